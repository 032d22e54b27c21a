"""Ways of searching, by name: fusion, then a reranker if one is configured, then a preference if the caller chose one. Pure.

A profile's name says everything that decides an order; it stands in the run's manifest and in every search's span. Changing a
number makes a new name.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, get_args

from msgspec import Struct

from api.retrieval.fusion import SHIPPED, Fused, Profile
from shared.errors import InvalidArgument
from shared.ids import DocId
from shared.types.documents import Trust
from shared.types.snapshots import SnapshotDocument

Preference = Literal["newer", "trusted"]
PREFERENCES: Final[tuple[Preference, ...]] = get_args(Preference)
PREFERENCE_VERSION: Final = "v1"

DAY_MS: Final = 86_400_000
HALF_LIFE_DAYS: Final = 180
_TIERS: Final[dict[Trust, int]] = {
    "official": 4,
    "internal": 3,
    "third_party": 2,
    "web": 1,
    "user_upload": 0,
}  # spec/03


class Reranking(Struct, frozen=True, kw_only=True):
    model: str
    depth: int  # the first so many candidates; those behind keep their order


class SearchProfile(Struct, frozen=True, kw_only=True):
    fusion: Profile = SHIPPED
    rerank: Reranking | None = None
    prefer: Preference | None = None

    @property
    def name(self) -> str:
        """e.g. "hybrid-scores-v2", "hybrid-scores-v2+rerank:bge-reranker-v2-m3@20+newer-v1"."""
        parts = [self.fusion.name]
        if self.rerank is not None:
            parts.append(f"rerank:{self.rerank.model}@{self.rerank.depth}")
        if self.prefer is not None:
            parts.append(f"{self.prefer}-{PREFERENCE_VERSION}")
        return "+".join(parts)


def check_preference(named: str | None) -> Preference | None:
    """What a caller asked for. Raises: InvalidArgument with all there are."""
    for known in PREFERENCES:
        if named == known:
            return known
    if named is None:
        return None
    raise InvalidArgument(
        f"There is no preference {named!r}. There are: {', '.join(PREFERENCES)}; leave it out to prefer none.",
        field="prefer",
    )


def preference_in(profile: str) -> Preference | None:
    """The preference that a profile's name says; None = none that this version knows."""
    return next((one for one in PREFERENCES if profile.endswith(f"+{one}-{PREFERENCE_VERSION}")), None)


class Ranked(Struct, frozen=True, kw_only=True):
    """A candidate on its way to its rank. `score` orders this step's list; `before`: 1.., where it stood in the step before."""

    candidate: Fused
    score: float
    before: int


def counts_scores(profile: Profile, candidates: int) -> bool:
    """Whether fused scores say how far apart two candidates are; those of a handful are stretched over the whole scale."""
    return profile.by == "scores" and candidates >= profile.dense


def reach(profile: Profile, *, by_scores: bool) -> float:
    """The most that a preference adds: a fifth of the scale of scores; else an eighth of a first place in one branch."""
    return 0.2 if by_scores else 1 / (8 * (profile.k + 1))


def fused_order(fused: Sequence[Fused], *, profile: Profile) -> list[Ranked]:
    """The fusion's candidates, best first, with scores where they count, else with what stands for their ranks."""
    as_they_are = profile.by == "ranks" or counts_scores(profile, len(fused))
    return [
        Ranked(candidate=one, score=one.score if as_they_are else 2 / (profile.k + rank), before=rank)
        for rank, one in enumerate(fused, 1)
    ]


def rerank_order(candidates: Sequence[Fused], scores: Sequence[float], *, profile: Profile) -> list[Ranked]:
    """Candidates by the reranker's scores, one for each of the first `len(scores)`; equal scores and all others keep their order.

    A score of one model means nothing to another, so only the rank stays: it counts as if both branches had put the block there.
    """
    depth = len(scores)
    order = [*sorted(range(depth), key=lambda place: (-scores[place], place)), *range(depth, len(candidates))]
    return [
        Ranked(candidate=candidates[place], score=2 / (profile.k + rank), before=place + 1)
        for rank, place in enumerate(order, 1)
    ]


def preference_order(
    ranked: Sequence[Ranked], prefer: Preference, documents: Mapping[DocId, SnapshotDocument], *, reach: float
) -> list[Ranked]:
    """The same candidates, newer or more trusted ones further in front; equal ones keep their order exactly.

    ranked: best first. reach · f is added to each score: a preference moves what is about as good, it does not lift what hardly fits.
    newer: f = H / (H + age), age in whole days behind the newest candidate, H = 180 days. Time is when the document's version was
    taken in (`updated_at`): the files' own times don't survive copying. Versions of one day are equally new.
    trusted: f = tier / 4, user_upload 0, web 1, third_party 2, internal 3, official 4.
    One quotient of integers and one product, so that every machine computes the same. Hyperbolic, because an exponential decay forgets that three
    years are older than two. Source: decision 0034.
    """
    newest_ms = max((documents[one.candidate.doc_id].updated_at_ms for one in ranked), default=0)

    def share(document: SnapshotDocument) -> float:
        if prefer == "trusted":
            return _TIERS[document.trust] / max(_TIERS.values())
        age_days = (newest_ms - document.updated_at_ms) // DAY_MS
        return HALF_LIFE_DAYS / (HALF_LIFE_DAYS + age_days)

    lifted = [
        Ranked(candidate=one.candidate, score=one.score + reach * share(documents[one.candidate.doc_id]), before=place)
        for place, one in enumerate(ranked, 1)
    ]
    # rounding keeps the order of sums with one and the same bonus, but may make them equal: then the rank before decides
    return sorted(lifted, key=lambda one: (-one.score, one.before))
