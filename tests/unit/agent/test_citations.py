"""Citation markers: found, resolved, numbered; nothing of the model's passes for one of ours."""

import pytest

from api.agent.citations import Claim, Resolved, find_markers, resolve

A, B = "abcdefgh.v1#0", "abcdefgh.v1#12"
KNOWN = {A, B}
TWO = f"甲。【来源：{B}】乙。【来源：{A}、{B}】"


@pytest.mark.parametrize(
    ("marker", "ids"),
    [
        (f"【来源：{A}】", (A,)),
        (f"[source: {A}]", (A,)),
        (f"[Source：{A}]", (A,)),
        (f"［来源:{A}］", (A,)),
        (f"[sources: {A}, {B}]", (A, B)),
        (f"【来源：{A}、{B}】", (A, B)),
        (f"【来源：{A}；{B}】", (A, B)),
        (f"[source: {A};{B}]", (A, B)),
        (f"[source: {A} and {B}]", (A, B)),
        (f"(source: {A})", (A,)),
        (f"（来源：{A}）", (A,)),
        (f"[{A}]", (A,)),
        (f"【{A}，{B}】", (A, B)),
        (f"[source: `{A}`]", (A,)),
        (f"[source: block_id={A}]", (A,)),
        (f"[source: {A.upper()}]", (A,)),
        ("[source: ABCDEFGH.V1＃0]", (A,)),
        (f"[source: {A} (p. 3)]", (A,)),
        ("[source: 手册]", ("手册",)),
        ("[source: abcdefgh#0]", ("abcdefgh#0",)),
        (f"[source: {A}", (A,)),
    ],
)
def test_a_marker_is_found_in_any_spelling_of_plain_meaning(marker: str, ids: tuple[str, ...]) -> None:
    text = f"五天。{marker}"
    found = find_markers(text)
    assert [(text[one.start : one.end], one.ids) for one in found] == [(marker, ids)]


@pytest.mark.parametrize(
    "text", ["见 [1]。", "（来源：世界卫生组织）", "a[i]", "[link](http://a)", "【注意】", "[TODO: x]"]
)
def test_other_brackets_are_no_markers(text: str) -> None:
    assert find_markers(text) == []


def test_blocks_are_numbered_in_order_of_first_appearance() -> None:
    resolved = resolve(TWO, KNOWN)
    assert resolved == Resolved(
        text="甲。[1]乙。[2][1]",
        block_ids=(B, A),
        numbers=(1, 2),
        unmarked=(),
        claims=(
            Claim(sentence="甲。", block_ids=(B,), start=0, end=len(f"甲。【来源：{B}】")),
            Claim(sentence="乙。", block_ids=(A, B), start=len(f"甲。【来源：{B}】"), end=len(TWO)),
        ),
        removed=(),
    )


def test_unknown_ids_are_taken_out_and_told() -> None:
    resolved = resolve(f"Five [source: zzzzzzzz.v1#9]. Six [source: {A}, zzzzzzzz.v1#8].", KNOWN)
    assert resolved.text == "Five. Six [1]."
    assert resolved.removed == ("zzzzzzzz.v1#9", "zzzzzzzz.v1#8")
    assert [(claim.sentence, claim.block_ids) for claim in resolved.claims] == [("Six.", (A,))]


def test_a_marker_cut_off_at_the_end_is_taken_out() -> None:
    resolved = resolve("五天。【来源：abcdef", KNOWN)
    assert resolved.text == "五天。"
    assert len(resolved.removed) == 1


def test_what_looks_like_our_marks_is_rewritten() -> None:
    resolved = resolve(f"文献[3]说是五天[1]，见[2019]与 a[0]。【来源：{A}】", KNOWN)
    assert resolved.text == "文献［3］说是五天［1］，见[2019]与 a[0]。[1]"


@pytest.mark.parametrize(
    ("sentence", "delivered"),
    [
        ("The crowd was delighted with it.[73]", "The crowd was delighted with it.[73] [1]"),
        ("It was proved in 1931.[1][3]", "It was proved in 1931.[1][3] [4][5]"),
        ("文献[1]认为是五天。", "文献[1]认为是五天。 [2][3]"),
    ],
)
def test_a_sentence_quoted_word_for_word_is_left_as_it_is_and_our_numbers_step_over_its(
    sentence: str, delivered: str
) -> None:
    cited = f" [source: {A}]" if "73" in sentence else f" [source: {A}, {B}]"
    resolved = resolve(f"{sentence}{cited}", KNOWN, shown=[f"Before. {sentence} After."])
    assert resolved.text == delivered
    assert f"[{resolved.numbers[0]}]" not in sentence


def test_in_code_a_look_alike_stays_working_code() -> None:
    resolved = resolve(f"Use `a[1]` here [source: {A}].\n```\nb[1] = c[2]\n```", KNOWN)
    assert resolved.text == "Use `a[ 1 ]` here [1].\n```\nb[ 1 ] = c[2]\n```"


def test_a_nul_in_the_text_forges_no_mark() -> None:
    assert resolve("五天\0001\000。", KNOWN).text == "五天1。"


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        (f"甲。乙【来源：{A}】。丙。", [("乙。", (A,))]),
        (f"甲。乙。【来源：{A}】丙。", [("乙。", (A,))]),
        (f"First. Second [source: {A}]. Third.", [("Second.", (A,))]),
        (f"First. Second. [source: {A}] Third.", [("Second.", (A,))]),
        (f"【来源：{A}】甲是五天。", [("甲是五天。", (A,))]),
        (f"- 甲是五天\n- 【来源：{A}】乙是六天\n", [("- 乙是六天", (A,))]),
        (f"甲是五天【来源：{A}】，乙是六天【来源：{B}】。", [("甲是五天，乙是六天。", (A, B))]),
        (f"【来源：{A}】", []),
    ],
)
def test_a_marker_belongs_to_its_sentence(text: str, claims: list[tuple[str, tuple[str, ...]]]) -> None:
    assert [(claim.sentence, claim.block_ids) for claim in resolve(text, KNOWN).claims] == claims
