"""A run as its page shows it, made of its file alone: the server's own runs and files that a person opens look the same. Pure.

Whatever a file holds, this never raises.
"""

import re
from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from api.web.run_layers import BlockWay, Happenings, block_ways, happenings
from api.web.run_sentences import Sentences
from api.web.run_spans import Row, artifact, rows, text, walked
from api.web.run_turns import Turn, turns
from shared.telemetry import names
from shared.telemetry.runfile import hashes_in
from shared.types.runfiles import RunFile
from shared.types.runs import Answer, Citation, ClaimCheck, RunManifest, Verdict
from shared.types.traces import SpanNode, TraceLevel

_MARK = re.compile(r"\[(\d{1,4})\]")


class Mark(Struct, frozen=True, kw_only=True):
    """A citation where it stands. `verdict`: of the sentence there; the citation's own is the worst of all its sentences."""

    marker: int
    citation: Citation
    verdict: Verdict


class Title(Struct, frozen=True, kw_only=True):
    """Where a block stands."""

    title: str
    section_path: str


class Version(Struct, frozen=True, kw_only=True):
    """A name for people, and what identifies it; either may be ""."""

    what: str
    name: str
    sha256: str = ""


class Kept(Struct, frozen=True, kw_only=True):
    """How much of the run is there. `contents`: of how many texts the trace speaks; `missing`: how many of these are not here."""

    level: TraceLevel
    partial: bool
    lost_spans: int
    lost_artifacts: int
    spans: int
    contents: int
    missing: int


class RunView(Struct, frozen=True, kw_only=True):
    """`prefix`: what the ids of this view's parts on a page begin with. `here`: the blocks can be opened on this server.

    `text`: the answer, marks set apart. `removed`: block ids of marks that named nothing that was read.
    """

    prefix: str
    here: bool
    answer: Answer
    rerun_of: str | None
    text: tuple[str | Mark, ...]
    removed: tuple[str, ...]
    kept: Kept
    happened: Happenings
    blocks: tuple[BlockWay, ...]
    ways: dict[str, BlockWay]  # the same by block id
    turns: tuple[Turn, ...]
    rows: tuple[Row, ...]
    versions: tuple[Version, ...]


def run_view(file: RunFile, *, prefix: str = "run", here: bool = True) -> RunView:
    """Everything that the page of a run shows. Takes as long as the prompts are large: not for an event loop."""
    answer, spans = file.record.answer, file.trace.spans
    manifest = answer.manifest
    told = turns(spans, file.contents, manifest.limits if manifest else None)
    ways = block_ways(file.record, told)
    removed = _removed(spans)
    return RunView(
        prefix=prefix,
        here=here,
        answer=answer,
        rerun_of=file.record.rerun_of,
        text=marked(answer.text, answer.citations, answer.claims),
        removed=removed,
        kept=_kept(file),
        happened=happenings(file.record, told, ways, len(removed)),
        blocks=ways,
        ways={one.block_id: one for one in ways},
        turns=told,
        rows=rows(spans),
        versions=_versions(manifest, file.app_version),
    )


def titled(view: RunView, titles: Mapping[str, Title]) -> RunView:
    """With the titles of blocks that the run did not read, by block id."""
    blocks = tuple(
        one
        if one.title or one.block_id not in titles
        else replace(one, title=titles[one.block_id].title, section_path=titles[one.block_id].section_path)
        for one in view.blocks
    )
    return replace(view, blocks=blocks, ways={one.block_id: one for one in blocks})


def marked(said: str, citations: Sequence[Citation], claims: Sequence[ClaimCheck]) -> tuple[str | Mark, ...]:
    """The answer's text in pieces: marks that are citations, and what stands between them."""
    known = {one.marker: one for one in citations}
    sentences = Sentences(said, claims)
    told: list[str | Mark] = []
    start = 0
    for found in _MARK.finditer(said):
        citation = known.get(int(found[1]))
        if citation is None:
            continue
        verdict = sentences.verdict(citation.marker, before=found.start()) or citation.verdict
        told += [said[start : found.start()], Mark(marker=citation.marker, citation=citation, verdict=verdict)]
        start = found.end()
    return tuple(one for one in (*told, said[start:]) if one != "")


def _kept(file: RunFile) -> Kept:
    hashes = list(hashes_in(file.trace.spans))
    every = [span for _, span in walked(file.trace.spans)]
    return Kept(
        level=_level(every, file),
        partial=file.trace.partial,
        lost_spans=file.trace.lost_spans,
        lost_artifacts=file.trace.lost_artifacts,
        spans=len(every),
        contents=len(hashes),
        missing=sum(one not in file.contents for one in hashes),
    )


def _level(spans: Sequence[SpanNode], file: RunFile) -> TraceLevel:
    """As the root says; of runs from before it did, by what there is."""
    said = {text(one.attributes, names.TRACE_LEVEL) for one in spans}
    if "full" in said:
        return "full"
    prompts = {artifact(one, "prompt")[0] for one in spans}
    return "full" if "metadata" not in said and not prompts.isdisjoint(file.contents) else "metadata"


def _removed(spans: Sequence[SpanNode]) -> tuple[str, ...]:
    return tuple(
        text(event.attributes, "block_id")
        for _, span in walked(spans)
        for event in span.events
        if event.name == names.CITATION and text(event.attributes, "verdict") == "removed"
    )


def _versions(manifest: RunManifest | None, saved_by: str) -> tuple[Version, ...]:
    if manifest is None:
        return (Version(what="app", name=saved_by),)
    bundle = f"{manifest.prompt_bundle} ({manifest.prompt_bundle_origin})"
    limits = msgspec.to_builtins(manifest.limits)
    return (
        Version(what="app", name=manifest.app_version, sha256=manifest.app_build),
        Version(what="bundle", name=bundle, sha256=manifest.prompt_bundle_sha256),
        Version(what="bundle_parent", name=manifest.prompt_bundle_parent or ""),
        Version(what="model", name=manifest.model),
        Version(what="model_settings", name=manifest.model_settings, sha256=manifest.model_settings_sha256),
        Version(what="loop", name=f"{manifest.loop_version} · {manifest.protocol}"),
        Version(what="tools", name=manifest.tool_contract_version),
        Version(what="path", name=" · ".join(filter(None, (manifest.path, manifest.path_reason)))),
        Version(what="profile", name=manifest.retrieval_profile),
        Version(what="embedding", name=manifest.embedding_version),
        Version(what="keyword", name=manifest.keyword_version),
        Version(what="citations", name=manifest.citation_mode),
        Version(what="limits", name=", ".join(f"{name} {value}" for name, value in limits.items())),
        Version(what="snapshot", name=manifest.snapshot_id, sha256=manifest.snapshot_manifest_sha256),
        Version(what="access", name="", sha256=manifest.access_sha256),
    )
