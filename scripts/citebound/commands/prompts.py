"""`citebound prompts`: the wordings that a model is told, experiments with them, and their way into a release."""

import argparse
import os
import sys
from pathlib import Path

from msgspec import Struct

from api.agent.samples import check_bundle
from scripts.citebound.api import open_api, segment
from scripts.citebound.console import note, plain, print_json, words
from scripts.citebound.failure import FAILED, OK, USAGE, CommandFailed
from shared.bundles import RELEASED, BundleInfo, Shelf, TemplateDiff
from shared.layout import Layout
from shared.promotion import promote as write_release
from shared.settings_load import data_folder, load_settings


class BundleView(Struct, frozen=True, kw_only=True):
    """GET /api/prompts/{name}"""

    info: BundleInfo
    folder: str
    contracts: dict[str, str]
    templates: dict[str, str]


class Differences(Struct, frozen=True, kw_only=True):
    """GET /api/prompts/{name}/diff"""

    bundle: str
    other: str
    templates: tuple[TemplateDiff, ...]


class Promoted(Struct, frozen=True, kw_only=True):
    bundle: str
    folder: str


def prompts(arguments: argparse.Namespace) -> int:
    listed = open_api(arguments.url).get("/api/prompts", list[BundleInfo])
    if arguments.json:
        print_json(listed)
        return OK
    for one in listed:
        _print_info(one)
    return OK


def show(arguments: argparse.Namespace) -> int:
    one = open_api(arguments.url).get(_path(arguments.bundle), BundleView)
    if arguments.json:
        print_json(one)
        return OK
    if arguments.template:
        if arguments.template not in one.templates:
            raise CommandFailed(
                f"{arguments.bundle} has no template {arguments.template}",
                remedy=f"it has {', '.join(sorted(one.templates))}",
                code=USAGE,
                error="invalid_argument",
            )
        plain(one.templates[arguments.template])
        return OK
    _print_info(one.info)
    plain(f"  {words('files', '文件')}: {one.folder}")
    for path in sorted(one.templates):
        plain(f"    {path}")
    return FAILED if one.info.problems else OK


def diff(arguments: argparse.Namespace) -> int:
    query = {"other": arguments.other} if arguments.other else {}
    found = open_api(arguments.url).get(f"{_path(arguments.bundle)}/diff", Differences, **query)
    if arguments.json:
        print_json(found)
        return OK
    note(f"{found.other} → {found.bundle}")
    for one in found.templates:
        plain(f"{one.path} ({one.change})", "bold")
        plain(one.diff)
    if not found.templates:
        plain(words("no difference", "没有差别"))
    return OK


def create(arguments: argparse.Namespace) -> int:
    body = {"name": arguments.name} | ({"parent": arguments.parent} if arguments.parent else {})
    made = open_api(arguments.url).post("/api/prompts", body, BundleView)
    if arguments.json:
        print_json(made)
        return OK
    _print_info(made.info)
    plain(
        words(
            f"  edit the files in {made.folder}, then ask with --prompt-bundle {made.info.name}",
            f"  修改 {made.folder} 中的文件，再用 --prompt-bundle {made.info.name} 提问",
        )
    )
    return OK


def edit(arguments: argparse.Namespace) -> int:
    """Replace one template of a draft by a file's text: for a Citebound whose folder is not at hand."""
    try:
        text = sys.stdin.read() if arguments.file == "-" else Path(arguments.file).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandFailed(
            f"{arguments.file} can't be read: {error}", remedy="name a text file", code=USAGE, error="invalid_argument"
        ) from error
    body = {"template": arguments.template, "text": text}
    return _told(open_api(arguments.url).put(_path(arguments.bundle), body, BundleInfo), as_json=arguments.json)


def freeze(arguments: argparse.Namespace) -> int:
    found = open_api(arguments.url).post(f"{_path(arguments.bundle)}/freeze", {}, BundleInfo)
    return _told(found, as_json=arguments.json)


def promote(arguments: argparse.Namespace) -> int:
    """Works on this checkout's files and needs no running Citebound: what it writes is reviewed and committed."""
    settings = load_settings(os.environ)
    shelf = Shelf(
        release=RELEASED,
        local=Layout(root=data_folder(os.environ)).prompts,
        default=settings.prompts.bundle,
        check=check_bundle,
    )
    made = Promoted(
        bundle=(name := write_release(shelf, arguments.bundle, note=arguments.note)), folder=str(RELEASED / name)
    )
    if arguments.json:
        print_json(made)
        return OK
    plain(made.bundle, "bold")
    plain(
        words(
            f"  written to {made.folder}, with its note in prompts/CHANGES.md. Review and commit both;"
            f" CITEBOUND_PROMPTS_BUNDLE={made.bundle} makes it the default.",
            f"  已写入 {made.folder}，说明在 prompts/CHANGES.md。请审阅并提交；"
            f"设置 CITEBOUND_PROMPTS_BUNDLE={made.bundle} 后成为默认。",
        )
    )
    return OK


def _told(info: BundleInfo, *, as_json: bool) -> int:
    if as_json:
        print_json(info)
    else:
        _print_info(info)
    return FAILED if info.problems else OK


def _print_info(one: BundleInfo) -> None:
    marks = [one.origin, one.state, *(["default"] if one.is_default else [])]
    parent = f" ← {one.parent}" if one.parent else ""
    plain(f"{one.name}  {' · '.join(marks)}{parent}", "bold" if one.is_default else "")
    if one.sha256:
        plain(f"  {one.sha256}", "dim")
    for problem in one.problems:
        plain(f"  ✗ {problem}", "red")


def _path(bundle: str) -> str:
    """Raises: CommandFailed (USAGE) for a name that is none."""
    bundle_id, slash, version = bundle.partition("/")
    if not (bundle_id and slash and version) or "/" in version:
        raise CommandFailed(
            f"{bundle!r} is no bundle's name",
            remedy="write it as NAME/VERSION; `prompts` lists them",
            code=USAGE,
            error="invalid_argument",
        )
    return f"/api/prompts/{segment(bundle_id)}/{segment(version)}"
