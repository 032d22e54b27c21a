"""Prompts: the wordings that models are told. All bundles, one of them, what differs between two. For admins."""

import asyncio
from collections.abc import Sequence

from litestar import Response, get
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery
from msgspec import Struct

from api.agent.placeholders import placeholders
from api.callers import NEEDS_ADMIN
from api.desk import MAX_QUESTION
from api.parts import Parts
from api.routes.access import AnyRequest, caller_of
from api.routes.prompts import BundleView, view
from api.web.frame import PAGE, render
from shared.bundles import BundleInfo, Shelf, TemplateDiff

_MARKS = {"+": "added", "-": "removed", " ": "same"}


class Line(Struct, frozen=True, kw_only=True):
    kind: str  # added, removed, same, or "gap": lines that are alike were left out before it
    text: str


class ChangedTemplate(Struct, frozen=True, kw_only=True):
    path: str
    change: str  # added | removed | changed
    lines: tuple[Line, ...]


@get("/prompts", opt={**NEEDS_ADMIN, **PAGE}, include_in_schema=False)
async def prompts_page(request: AnyRequest, parts: NamedDependency[Parts]) -> Response[str]:
    bundles = await asyncio.to_thread(parts.prompts.every)
    return render(
        request,
        "prompts.html.j2",
        caller=caller_of(request),
        tab="prompts",
        bundles=bundles,
        released=await asyncio.to_thread(_released, parts.prompts, bundles),
        default=parts.prompts.default,
    )


@get("/prompts/compare", opt={**NEEDS_ADMIN, **PAGE}, include_in_schema=False)
async def compare_prompts_page(
    request: AnyRequest, parts: NamedDependency[Parts], before: FromQuery[str], after: FromQuery[str]
) -> Response[str]:
    """Raises: NotFound, SettingsError for one that can't be read."""
    bundles = await asyncio.to_thread(parts.prompts.every)
    found = await asyncio.to_thread(parts.prompts.diff, after, before)
    return render(
        request,
        "prompts_compare.html.j2",
        caller=caller_of(request),
        tab="prompts",
        bundles=bundles,
        before=before,
        after=after,
        templates=[changed(one) for one in found],
    )


@get("/prompts/{bundle_id:str}/{version:str}", opt={**NEEDS_ADMIN, **PAGE}, include_in_schema=False)
async def bundle_page(
    request: AnyRequest, parts: NamedDependency[Parts], bundle_id: FromPath[str], version: FromPath[str]
) -> Response[str]:
    """Raises: NotFound."""
    seen = await asyncio.to_thread(view, parts, f"{bundle_id}/{version}")
    return render(
        request,
        "prompts_bundle.html.j2",
        caller=caller_of(request),
        tab="prompts",
        bundle=seen,
        pairs=_pairs(seen),
        may_print=await asyncio.to_thread(placeholders, seen.templates),
        max_question=MAX_QUESTION,
        has_model=parts.chat_model is not None,
    )


def changed(one: TemplateDiff) -> ChangedTemplate:
    """A unified difference as lines for people."""
    lines: list[Line] = []
    for text in one.diff.splitlines()[2:]:  # after the two names: a line may begin like those
        if text.startswith("@@"):
            if lines:
                lines.append(Line(kind="gap", text=""))
            continue
        lines.append(Line(kind=_MARKS[text[:1] or " "], text=text[1:]))
    return ChangedTemplate(path=one.path, change=one.change, lines=tuple(lines))


def _released(shelf: Shelf, bundles: Sequence[BundleInfo]) -> dict[str, str]:
    """Experiments that became a release, with its name: the newest one of the very same texts. Blocking."""
    files = {one.name: shelf.load(one.name).manifest.files for one in bundles if not one.problems}
    releases = [one.name for one in bundles if one.origin == "release" and one.name in files]
    return {
        one.name: same[-1]
        for one in bundles
        if one.origin == "local" and one.state == "frozen" and one.name in files
        if one.parent is None or files.get(one.parent) != files[one.name]  # an unchanged copy became nothing
        if (same := [name for name in releases if files[name] == files[one.name]])
    }


def _pairs(bundle: BundleView) -> list[tuple[str, dict[str, str]]]:
    """The templates by name, in both languages side by side."""
    found: dict[str, dict[str, str]] = {}
    for path in bundle.templates:
        lang, _, name = path.partition("/")
        found.setdefault(name.removesuffix(".j2"), {})[lang] = path
    return sorted(found.items())
