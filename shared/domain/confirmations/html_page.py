"""The HTML part of a mail: its visible text, JSON-LD documents and microdata items."""

import html
import json
import re
from html.parser import HTMLParser
from typing import Any, NamedTuple

from shared.domain.confirmations.clean_text import cut_remarks

MAX_PAGE_CHARACTERS = 1_500_000  # the rest of a longer page is ignored
_MAX_SCRIPTS = 20
_MAX_ITEMS = 60
_BLOCKS = frozenset(
    re.findall(
        r"\w+",
        "address article aside blockquote br center dd div dl dt fieldset footer form h1 h2 h3 h4 h5 h6 header hr li"
        " main nav ol p pre section table tbody tfoot thead tr ul",
    )
)
_HIDDEN = frozenset({"head", "script", "style", "title", "template", "noscript", "object"})
_EMPTY = frozenset(re.findall(r"\w+", "area base br col embed hr img input link meta source track wbr"))
_WRAPPING = re.compile(r"^\s*(?://\s*)?(?:<!\[CDATA\[|<!--)|(?://\s*)?(?:\]\]>|-->)\s*$")


def read_json_ld(page: str) -> list[Any]:
    """Every JSON-LD document of the page that can be read."""
    documents: list[Any] = []
    small, at = page.lower(), 0
    while len(documents) < _MAX_SCRIPTS and (start := small.find("<script", at)) >= 0:
        start_tag_end, end = small.find(">", start), small.find("</script", start)
        if start_tag_end < 0 or end < 0:
            break
        if (
            "ld+json" in small[start:start_tag_end]
            and (document := _parse_json(page[start_tag_end + 1 : end])) is not None
        ):
            documents.append(document)
        at = end + 8
    return documents


_NEIGHBOURS = re.compile(r"\}\s*(?=\{)")  # a list of which the commas were forgotten
_LAST_COMMA = re.compile(r",(?=\s*[\]}])")


def _parse_json(text: str) -> Any:
    """The document; one with forgotten or superfluous commas is mended, and documents in a row are a list."""
    text = _WRAPPING.sub("", _WRAPPING.sub("", text[:MAX_PAGE_CHARACTERS])).strip().rstrip(";")
    for form in (text, html.unescape(text)):
        for attempt in (form, _LAST_COMMA.sub("", _NEIGHBOURS.sub("},", form))):
            for whole in (attempt, f"[{attempt}]"):
                try:
                    return json.loads(whole, strict=False)
                except (ValueError, RecursionError):
                    continue
    return None


# What no reader of the letter sees. Senders hide the twin of a part that is for telephones, and others their tricks.
_UNSEEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all|opacity\s*:\s*0(?![.\d])"
    r"|(?<![a-z-])(?:font-size|max-height)\s*:\s*0(?![.\d])",
    re.I,
)


_BLANKS = re.compile(r"\s+")


class _Opened(NamedTuple):
    """An open element: its tag, the item it opened, the property being read, and whether it hides what is in it."""

    tag: str
    item: dict[str, Any] | None
    name: str | None
    unseen: bool


class _Page(HTMLParser):
    """Text with line ends at blocks and tabs between cells; items of microdata as JSON-LD would write them."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.out: list[str] = []
        self.hidden = 0
        self.items: list[dict[str, Any]] = []
        self.stack: list[_Opened] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self._visible(tag, 1)
        item, reading = (
            self._item(attributes) if "itemprop" in attributes or "itemscope" in attributes else (None, None)
        )
        style = attributes.get("style", "")[:1000]
        unseen = tag not in _EMPTY and ("hidden" in attributes or (":" in style and bool(_UNSEEN.search(style))))
        self.hidden += unseen
        self.stack.append(_Opened(tag, item, reading, unseen))
        if tag in _EMPTY and self.stack:
            self._close(self.stack.pop())

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _EMPTY:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        self._visible(tag, -1)
        if any(tag == opened.tag for opened in self.stack[-100:]):
            while (top := self.stack.pop()).tag != tag:
                self._close(top)
            self._close(top)

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.out.append(_BLANKS.sub(" ", data))
        self.words.append(data)

    def _visible(self, tag: str, step: int) -> None:
        if tag in _HIDDEN:
            self.hidden = max(0, self.hidden + step)
        elif tag in _BLOCKS and not self.hidden:
            self.out.append("\n")
        elif tag in ("td", "th") and step < 0 and not self.hidden:
            self.out.append("\t")

    def _item(self, attributes: dict[str, str]) -> tuple[dict[str, Any] | None, str | None]:
        """The item an element opens, and the property whose text it is."""
        name, item, reading = attributes.get("itemprop"), None, None
        holder = next((opened.item for opened in reversed(self.stack) if opened.item is not None), None)
        if "itemscope" in attributes and len(self.items) < _MAX_ITEMS:
            item = {"@type": attributes.get("itemtype", "").split(" ")[0][:200]}
            if name and holder is not None:
                _add_property(holder, name, item)
            else:
                self.items.append(item)
        elif name and holder is not None:
            value = next((attributes[a] for a in ("content", "datetime", "href", "src") if attributes.get(a)), None)
            if value is not None:
                _add_property(holder, name, value[:500])
            else:
                reading, self.words = name, []
        return item, reading

    def _close(self, top: _Opened) -> None:
        self.hidden = max(0, self.hidden - top.unseen)
        if not top.name:
            return
        holder = next((opened.item for opened in reversed(self.stack) if opened.item is not None), None)
        if holder is not None:
            _add_property(holder, top.name, " ".join("".join(self.words).split())[:500])


def _add_property(item: dict[str, Any], names: str, value: Any) -> None:
    for name in names.split()[:4]:
        if name in item:
            item[name] = [*(item[name] if isinstance(item[name], list) else [item[name]]), value][:40]
        else:
            item[name] = value


def _close_markup(page: str) -> str:
    """Without comments and unclosed tags, for which `HTMLParser` needs quadratic time."""
    whole = cut_remarks(page).partition("<!--")[0]
    last = whole.rfind(">") + 1
    return whole[:last] + whole[last:].replace("<", " ")


def read_page(page: str) -> tuple[str, list[dict[str, Any]]]:
    """The visible text, and the outermost items of microdata."""
    parser = _Page()
    parser.feed(_close_markup(page[:MAX_PAGE_CHARACTERS]))
    parser.close()
    lines = (re.sub(r"[ ]*\t[ \t]*", "\t", line).strip() for line in "".join(parser.out).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)), parser.items
