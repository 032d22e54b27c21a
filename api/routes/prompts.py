"""Prompt bundles: what there is, what differs, and experiments of one's own. Releasing one is a command, not a request."""

import asyncio
from collections.abc import Callable
from typing import Annotated, TypeVar

from litestar import Router, get, post, put
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, JSONBody
from msgspec import Meta, Struct

from api.callers import NEEDS_ADMIN
from api.parts import Parts
from shared.bundles import BundleInfo, TemplateDiff
from shared.errors import SettingsError

T = TypeVar("T")


class BundleView(Struct, frozen=True, kw_only=True):
    """One bundle with its texts; {} when it can't be read. `folder`: where its files lie on the server."""

    info: BundleInfo
    folder: str
    contracts: dict[str, str]
    templates: dict[str, str]


class CreateBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: Annotated[str, Meta(min_length=1, max_length=40)]
    parent: str | None = None  # None = the default bundle


class TemplateBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    template: str  # as in BundleView.templates, e.g. zh/rules.j2
    text: str
    before: str | None = (
        None  # the text that was edited: 409 when it is another by now; None = replace whatever is there
    )


class Differences(Struct, frozen=True, kw_only=True):
    bundle: str
    other: str
    templates: tuple[TemplateDiff, ...]


@get("/")
async def list_bundles(parts: NamedDependency[Parts]) -> list[BundleInfo]:
    """Releases, then experiments. What has `problems` can't be named by a run."""
    return await _in_thread(parts.prompts.every)


@post("/", status_code=201)
async def create_bundle(parts: NamedDependency[Parts], data: JSONBody[CreateBody]) -> BundleView:
    """Begin an experiment: a draft with its parent's texts, under the name's next version."""
    made = await _in_thread(lambda: parts.prompts.create(data.name, parent=data.parent))
    return await _in_thread(lambda: view(parts, made.name))


@get("/{bundle_id:str}/{version:str}")
async def get_bundle(parts: NamedDependency[Parts], bundle_id: FromPath[str], version: FromPath[str]) -> BundleView:
    return await _in_thread(lambda: view(parts, f"{bundle_id}/{version}"))


@put("/{bundle_id:str}/{version:str}")
async def write_template(
    parts: NamedDependency[Parts], bundle_id: FromPath[str], version: FromPath[str], data: JSONBody[TemplateBody]
) -> BundleInfo:
    """Replace one template of a draft; `problems` of the reply says what no run could use yet."""
    name = f"{bundle_id}/{version}"
    return await _in_thread(lambda: parts.prompts.write(name, data.template, data.text, before=data.before))


@post("/{bundle_id:str}/{version:str}/freeze", status_code=200)
async def freeze_bundle(parts: NamedDependency[Parts], bundle_id: FromPath[str], version: FromPath[str]) -> BundleInfo:
    """No byte of it may change from now on."""
    return await _in_thread(lambda: parts.prompts.freeze(f"{bundle_id}/{version}"))


@get("/{bundle_id:str}/{version:str}/diff")
async def diff_bundle(
    parts: NamedDependency[Parts], bundle_id: FromPath[str], version: FromPath[str], other: FromQuery[str | None] = None
) -> Differences:
    """From `other`, or else its parent, to this one."""
    name = f"{bundle_id}/{version}"
    found = await _in_thread(lambda: parts.prompts.diff(name, other))
    before = other or (await _in_thread(lambda: parts.prompts.info(name))).parent or ""
    return Differences(bundle=name, other=before, templates=tuple(found))


prompts = Router(
    "/api/prompts",
    route_handlers=[list_bundles, create_bundle, get_bundle, write_template, freeze_bundle, diff_bundle],
    tags=["prompts"],
    opt=NEEDS_ADMIN,
)


def view(parts: Parts, name: str) -> BundleView:
    """Blocking. Raises: NotFound."""
    info = parts.prompts.info(name)
    try:
        bundle = parts.prompts.load(name)
        contracts, templates = bundle.manifest.contracts, bundle.sources
    except SettingsError:  # `info.problems` tells why
        contracts, templates = {}, {}
    return BundleView(info=info, folder=str(parts.prompts.folder(name)), contracts=contracts, templates=templates)


async def _in_thread(work: Callable[[], T]) -> T:
    return await asyncio.to_thread(work)
