"""Nothing that a model writes loads an image or acts as HTML when an answer is rendered."""

from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from api.agent.harmless import harmless

FRAGMENTS = (
    "![图](http://a.example/?q=1)", "![a][r]", "![r]", "[r]: http://a.example/x.png", "<img src=http://a.example/x>",
    "<div>", "</div>", "<!--", "-->", "<script>", "<?php", "<https://a.example/>", "<b", ">", "`", "``", "```", "~~~", "\n", "\n\n",
    "    ", "  ", "- ", "> ", "| ", "|", "\\", "!", "[", "]", "(", ")", "年假五天。", "a", "1. ", "# ", "\t", "| - |\n", "```js\n", "\r", "&lt;",
)  # fmt: skip
READERS = (
    MarkdownIt("commonmark"),
    MarkdownIt("commonmark").enable("table"),
    MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]),
)


def all_of(tokens: list[Token]) -> list[Token]:
    return [one for token in tokens for one in (token, *all_of(token.children or []))]


@settings(max_examples=600, deadline=None)
@given(pieces=st.lists(st.sampled_from(FRAGMENTS), max_size=14))
@example(pieces=["```", "| ", "\n", "| - |\n", "![图](http://a.example/?q=1)"])
@example(pieces=["```a|b\n", "```\n", "![图](http://a.example/?q=1)\n", "```"])
@example(pieces=["~~~", "| ", "\n", "| - |\n", "<img src=http://a.example/x>"])
def test_no_reader_of_markdown_finds_an_image_or_html(pieces: list[str]) -> None:
    text = harmless("".join(pieces))
    for reader in READERS:
        kinds = {token.type for token in all_of(reader.parse(text))}
        assert not kinds & {"image", "html_inline", "html_block"}


@given(text=st.text())
def test_it_is_the_same_text_in_other_signs_and_stays_as_it_is_the_second_time(text: str) -> None:
    once = harmless(text)
    assert once.translate({ord("！"): "!", ord("＜"): "<"}) == text.translate({ord("！"): "!", ord("＜"): "<"})
    assert harmless(once) == once


def test_links_code_and_comparisons_stay() -> None:
    for text in (
        "见 [手册](https://a.example/)。",
        "写作 `<img src=x>` 即可。",
        "```html\n<img src=x>\n![a](b)\n```",
        "a < 5，b<=3。",
        "vec![0; 8]",
        "<https://a.example/>",
    ):
        assert harmless(text) == text


def test_an_image_becomes_a_link_and_a_tag_becomes_text() -> None:
    assert harmless("![x](http://e.example/?secret)") == "！[x](http://e.example/?secret)"
    assert harmless("<img src=http://e.example/>") == "＜img src=http://e.example/>"
