"""The HTML part of a mail: its visible text, JSON-LD documents and microdata items."""

import html
import json
import re
from html.parser import HTMLParser
from typing import Any, NamedTuple

from shared.domain.confirmations.clean_text import cut_remarks

MAX_PAGE_CHARACTERS = 1_500_000  # the rest of a longer page is ignored
MAX_VALUE_CHARACTERS = 500  # of one property
_MAX_SCRIPTS = 20
_MAX_ITEMS = 60
_BLOCKS = frozenset(
    re.findall(
        r"\w+",
        "address article aside blockquote br center dd div dl dt fieldset footer form h1 h2 h3 h4 h5 h6 header hr li"
        " main nav ol p pre section table tbody tfoot thead tr ul",
    )
)
_HIDDEN = frozenset(  # what is struck through is an old time or an old price
    {"head", "script", "style", "title", "template", "noscript", "object", "s", "del", "strike"}
)
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
    r"|(?<![a-z-])(?:font-size|max-height)\s*:\s*0(?![.\d])|text-decoration(?:-line)?\s*:\s*line-through",
    re.I,
)


# Attributes that only tell how a page looks: the parser needs longer for them than for all the words of a letter.
_LOOKS = re.compile(
    r' (?:role|width|height|cellpadding|cellspacing|border|align|valign|bgcolor|class|target)="[^"<>]*"'
    r'| style="(?![^"]*(?:none|hidden|hide|opacity|size\s*:\s*0|height\s*:\s*0|line-through))[^"<>]*"',
    re.I,
)
# Tags that open or close no raw text: without attributes, as most are then, they need not be taken apart further.
_LAYOUT = r"(?:table|tbody|thead|tr|t[dh]|div|p|span|center|font|b|strong|i|em|u|a|li|[uo]l|h[1-6])"
_BARE_START, _BARE_END = re.compile(rf"<({_LAYOUT})>", re.I), re.compile(rf"</({_LAYOUT})>", re.I)
_BLANKS = re.compile(r"\s+")
_AROUND_TAB = re.compile(r"(?:(?<! ) +)?\t[ \t]*")


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
        self.printed = 0  # open elements whose blanks and line ends count
        self.items: list[dict[str, Any]] = []
        self.stack: list[_Opened] = []
        self.holders: list[dict[str, Any]] = []  # the items of open elements
        self.reading = 0  # open elements whose text is the value of a property
        self.value = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._visible(tag, 1)
        if not attrs and tag not in _EMPTY:  # most, once the attributes of looks are gone
            self.stack.append(_Opened(tag, None, None, False))
            return
        attributes = {name: value or "" for name, value in attrs}
        item, reading = (
            self._item(attributes) if "itemprop" in attributes or "itemscope" in attributes else (None, None)
        )
        style = attributes.get("style", "")[:1000]
        unseen = tag not in _EMPTY and ("hidden" in attributes or (":" in style and bool(_UNSEEN.search(style))))
        self.hidden += unseen
        self.stack.append(_Opened(tag, item, reading, unseen))
        if tag in _EMPTY and self.stack:
            self._close(self.stack.pop())

    def parse_starttag(self, i: int) -> int:
        """The end of the tag that starts at `i`."""
        match = _BARE_START.match(self.rawdata, i)
        if match is None:
            return super().parse_starttag(i)
        self.handle_starttag(match[1].lower(), [])
        return match.end()

    def parse_endtag(self, i: int) -> int:
        """The end of the closing tag that starts at `i`."""
        match = _BARE_END.match(self.rawdata, i) if self.cdata_elem is None else None
        if match is None:
            return super().parse_endtag(i)
        self.handle_endtag(match[1].lower())
        return match.end()

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _EMPTY:
            self.handle_endtag(tag)

    updatepos = staticmethod(max)  # type: ignore[assignment]  # no one asks for the line and the column of a tag

    def handle_endtag(self, tag: str) -> None:
        self._visible(tag, -1)
        if self.stack and self.stack[-1].tag == tag:
            self._close(self.stack.pop())
        elif any(tag == opened.tag for opened in self.stack[-100:]):
            while (top := self.stack.pop()).tag != tag:
                self._close(top)
            self._close(top)

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.out.append(data if self.printed else _BLANKS.sub(" ", data))
        if self.reading and len(self.value) <= MAX_VALUE_CHARACTERS:
            self.value = _BLANKS.sub(" ", self.value + _BLANKS.sub(" ", data)[: MAX_VALUE_CHARACTERS + 2])

    def _visible(self, tag: str, step: int) -> None:
        if tag == "pre":
            self.printed = max(0, self.printed + step)
        if tag in _HIDDEN:
            self.hidden = max(0, self.hidden + step)
        elif tag in _BLOCKS and not self.hidden:
            self.out.append("\n")
        elif tag in ("td", "th") and step < 0 and not self.hidden:
            self.out.append("\t")

    def _item(self, attributes: dict[str, str]) -> tuple[dict[str, Any] | None, str | None]:
        """The item an element opens, and the property whose text it is."""
        name, item, reading = attributes.get("itemprop"), None, None
        holder = self.holders[-1] if self.holders else None
        if "itemscope" in attributes and len(self.items) < _MAX_ITEMS:
            item = {"@type": attributes.get("itemtype", "").split(" ")[0][:200]}
            if name and holder is not None:
                _add_property(holder, name, item)
            else:
                self.items.append(item)
            self.holders.append(item)
        elif name and holder is not None:
            value = next((attributes[a] for a in ("content", "datetime", "href", "src") if attributes.get(a)), None)
            if value is not None:
                _add_property(holder, name, value[:MAX_VALUE_CHARACTERS])
            else:
                reading, self.value = name, ""
                self.reading += 1
        return item, reading

    def _close(self, top: _Opened) -> None:
        self.hidden = max(0, self.hidden - top.unseen)
        if top.item is not None:
            self.holders.pop()
        if top.name:
            self.reading -= 1
            if self.holders:
                _add_property(self.holders[-1], top.name, self.value.strip()[:MAX_VALUE_CHARACTERS])


def _add_property(item: dict[str, Any], names: str, value: Any) -> None:
    for name in names.split()[:4]:
        if name in item:
            item[name] = [*(item[name] if isinstance(item[name], list) else [item[name]]), value][:40]
        else:
            item[name] = value


_SECTION = re.compile(r"<!\[([a-zA-Z]*)")
_SECTION_ENDS = {  # as `HTMLParser` looks for them; it raises on a section of any other name
    ("if", "else", "endif"): re.compile(r"\]\s*>"),
    ("cdata", "temp", "ignore", "include", "rcdata"): re.compile(r"\]\s*\]\s*>"),
}


def _escape_open_sections(page: str) -> str:
    """With the beginnings of sections that have no end written as text, which is what they are read as."""
    if "<![" not in page:
        return page
    last_ends: dict[str, int] = {}
    for names, pattern in _SECTION_ENDS.items():
        last = max((end.start() for end in pattern.finditer(page)), default=-1)
        last_ends.update(dict.fromkeys(names, last))
    return _SECTION.sub(
        lambda m: m[0] if m.start() < last_ends.get(m[1].lower(), -1) else m[0].replace("<", "&lt;"), page
    )


def _close_markup(page: str) -> str:
    """Without comments, unclosed sections and unclosed tags, for which `HTMLParser` needs quadratic time."""
    whole = _escape_open_sections(cut_remarks(page).partition("<!--")[0])
    last = whole.rfind(">") + 1
    return whole[:last] + whole[last:].replace("<", " ")


def read_page(page: str) -> tuple[str, list[dict[str, Any]]]:
    """The visible text, and the outermost items of microdata."""
    parser = _Page()
    parser.feed(_LOOKS.sub("", _close_markup(page[:MAX_PAGE_CHARACTERS])))
    parser.close()
    text = _AROUND_TAB.sub("\t", "".join(parser.out))
    lines = (line.strip() for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)), parser.items
