"""A model's Markdown as mail: headings, lists and https links survive, and nothing else becomes markup."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.outbox.wording.messages import message, notice
from shared.outbox.wording.standing_orders import STYLES, as_html, as_text

FACTS = {"order_id": 7, "prompt": "Tell me\nabout bonuses " * 9, "result": "# One\n- two", "error": None}
ALLOWED = {"h2", "ul", "ol", "li", "pre", "p", "br", "strong", "em", "s", "code", "a", "blockquote", "hr"}
ALLOWED |= {"table", "thead", "tbody", "tr", "th", "td"}
LINK = "color:#0f5a4d"
STYLE = re.compile(rf"(?:{'|'.join(map(re.escape, {*STYLES.values(), LINK}))})(?:;text-align:(?:left|center|right))?")
PIECES = [
    "<script>",
    "</p>",
    "[x](",
    ")",
    "https://",
    "javascript:",
    "**",
    "`",
    "\n",
    "# ",
    "- ",
    "| ",
    '"',
    "'",
    "&",
    "![",
    "](https://a.test",
    "```",
    "1. ",
    "|-|",
    "> ",
    "<https://a.test>",
    "_",
]


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def tags(html: str) -> list[tuple[str, dict[str, str | None]]]:
    parser = _Tags()
    parser.feed(html)
    return parser.seen


@settings(deadline=None)  # the first text also loads the library
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=6), max_size=40).map("".join))
def test_whatever_a_model_writes_becomes_known_elements_and_https_links_alone(text: str) -> None:
    for tag, attributes in tags(str(as_html(text))):
        assert tag in ALLOWED
        assert set(attributes) <= {"href", "rel", "style", "class"} | ({"start"} if tag == "ol" else set())
        assert STYLE.fullmatch(attributes.get("style") or LINK)
        assert attributes.get("class") in (None, "row", "link")
        assert (attributes.get("start") or "1").isdecimal()
        assert (attributes.get("href") or "https://").startswith("https://")


def test_markdown_keeps_its_shape() -> None:
    html = as_html("# Head\n1. one\n2. **two**\n\ntext\nmore `x`\n\n| a | b |\n|---|---|")
    shape = ["h2", "ol", "li", "li", "strong", "p", "br", "code", "table", "thead", "tr", "th", "th"]
    assert [tag for tag, _ in tags(str(html))] == shape


def test_raw_html_stays_text() -> None:
    html = str(as_html('<script>x</script>\n\nsee <img src="https://a.test/p.png" onerror=x> and <a href=x>y</a>'))
    assert [tag for tag, _ in tags(html)] == ["p", "p"]
    assert "&lt;script&gt;" in html


def test_a_code_block_keeps_nothing_of_its_language() -> None:
    assert tags(str(as_html('```x" onclick="y\ncode\n```'))) == [("pre", {}), ("code", {})]


@pytest.mark.parametrize(
    "address",
    [
        "http://a.test/",
        "javascript:alert(1",
        "//a.test/x",
        "https://bank.test@a.test/",
        "data:text/html,x",
        "https://[x",
    ],
)
def test_addresses_that_are_not_plain_https_are_words_only(address: str) -> None:
    assert tags(str(as_html(f"[words]({address})"))) == [("p", {"style": STYLES["paragraph_open"]})]
    assert address not in as_text(f"[words]({address})")


def test_a_link_says_where_it_leads_and_a_picture_loads_nothing() -> None:
    source = "[bank.test](https://evil.test/x) ![seen](https://evil.test/p.png)"
    assert "(evil.test)" in as_html(source)
    assert [tag for tag, _ in tags(str(as_html(source)))] == ["p", "a"]
    assert as_text(source) == "bank.test (https://evil.test/x) seen"


def test_the_notice_shortens_a_long_result_and_says_where_the_rest_is() -> None:
    told = notice("standing_order_done", FACTS | {"result": "word " * 500})
    assert told.kind == "standing_order"
    assert re.fullmatch(r"Standing order: Tell me about bonuses .*…", told.title)
    assert len(told.title) < 80
    assert told.body.endswith("get_standing_order 7 shows the whole result.")
    assert len(told.body) < 700


@pytest.mark.parametrize("event", ["standing_order_done", "standing_order_failed"])
def test_both_mails_are_worded_with_a_way_to_stop_them(event: str) -> None:
    made = message(event, FACTS | {"error": "timeout"}, sandbox=True, account="acc_1")
    assert made.subject.startswith("[SANDBOX] Standing order")
    assert "\n" not in made.subject
    for body in (made.text, made.html):
        assert "/dashboard/watches/order/7" in body
        assert "SANDBOX" in body
    assert made.unsubscribe
    assert ("took too long" in made.text) == (event == "standing_order_failed")
