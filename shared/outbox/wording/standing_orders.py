"""A standing order's words: a model's Markdown and our facts go in; notices, plain text and safe HTML come out.

What a model wrote may hold anything a stranger put into some tool's answer. So everything is escaped first; of what
Markdown can say, only headings, lists, emphasis, code and https links with their host beside them become markup.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any
from urllib.parse import urlsplit

from markupsafe import Markup, escape

Facts = Mapping[str, Any]
SHOWN = 600  # characters of a result that the notice repeats
_TITLE = 60
_WHY = {
    "not_configured": "this installation has no language model any more; its operator can set one up",
    "rate_limited": "the language model was too busy",
    "unavailable": "a part of this service or the language model was away",
    "unreachable": "the language model could not be reached",
    "timeout": "it took too long",
    "nonsense": "the language model's answer could not be read",
    "no_answer": "the language model came to no answer",
    "declined": "the language model declined it",
    "too_long": "it was more than the language model can read at once",
    "not_permitted": "the language model refused this installation's key",
    "refused": "the language model refused the question",
}
_IMAGE = re.compile(r"!\[([^\]\n]{0,500})\]\([^)\n]{0,2000}\)")
_LINK = re.compile(r"\[([^\]\n]{1,500})\]\(([^)\s]{1,2000})(?:\s[^)\n]{0,200})?\)")
_MARKS = (
    (re.compile(r"\*\*([^*\n]{1,1000})\*\*"), r"<strong>\1</strong>"),
    (re.compile(r"`([^`\n]{1,1000})`"), r"<code>\1</code>"),
)
_HEADING = re.compile(r"#{1,6}\s+(.*)")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+(.*)")


def why(word: str) -> str:
    return _WHY.get(word, "something went wrong")


def _called(facts: Facts) -> str:
    prompt = " ".join(facts["prompt"].split())
    return prompt if len(prompt) <= _TITLE else f"{prompt[: _TITLE - 1].rstrip()}…"


def done(facts: Facts) -> tuple[str, str]:
    text = as_text(facts["result"])
    more = f"…\n\nget_standing_order {facts['order_id']} shows the whole result."
    return f"Standing order: {_called(facts)}", text if len(text) <= SHOWN else text[:SHOWN].rstrip() + more


def failed(facts: Facts) -> tuple[str, str]:
    body = (
        f"Standing order {facts['order_id']} brought no result: {why(facts['error'])}. It runs again at its next time."
    )
    return f"Standing order without a result: {_called(facts)}", body


def as_text(markdown: str) -> str:
    """Markdown reads well as it is; pictures lose their address, links that are not https lose theirs."""
    plain = _IMAGE.sub(r"\1", markdown)
    return _LINK.sub(lambda found: f"{found[1]} ({found[2]})" if _host(found[2]) else found[1], plain)


def as_html(markdown: str) -> Markup:
    """Built from escaped text and a few elements of our own; nothing of the source can become markup by itself."""
    lines = _IMAGE.sub(r"\1", markdown).replace("\r", "").split("\n")
    return Markup("\n".join(part for kind, group in groupby(lines, _kind) for part in _block(kind, group)))  # noqa: S704


def _kind(line: str) -> str:
    if not line.strip():
        return "blank"
    if _HEADING.fullmatch(line):
        return "heading"
    if _ITEM.fullmatch(line):
        return "item"
    return "table" if line.lstrip().startswith("|") else "text"


def _block(kind: str, lines: Iterator[str]) -> Iterator[str]:
    if kind == "heading":
        for line in lines:
            yield f'<h2 style="font-size:17px">{_inside(_HEADING, line)}</h2>'
    elif kind == "item":
        items = (f"<li>{_inside(_ITEM, line)}</li>" for line in lines)
        yield f"<ul>{''.join(items)}</ul>"
    elif kind == "table":
        yield f"<pre>{escape(chr(10).join(lines))}</pre>"
    elif kind == "text":
        yield f"<p>{'<br>'.join(_inline(line) for line in lines)}</p>"


def _inside(pattern: re.Pattern[str], line: str) -> str:
    found = pattern.fullmatch(line)
    return _inline(found[1] if found else line)


def _inline(text: str) -> str:
    """Links are cut out first: what stands in an address is no emphasis."""
    made, at = [], 0
    for found in _LINK.finditer(text):
        made.append(_marked(text[at : found.start()]))
        made.append(_link(found[1], found[2]))
        at = found.end()
    return "".join([*made, _marked(text[at:])])


def _marked(text: str) -> str:
    safe = str(escape(text))
    for pattern, markup in _MARKS:
        safe = pattern.sub(markup, safe)
    return safe


def _link(words: str, address: str) -> str:
    """The host stands beside the words, which could name another one."""
    host = _host(address)
    if host is None:
        return _marked(words)
    return f'<a href="{escape(address)}" rel="noopener noreferrer">{_marked(words)}</a> ({escape(host)})'


def _host(address: str) -> str | None:
    """None for anything but a plain https address."""
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        return None
    plain = parts.scheme == "https" and "@" not in parts.netloc and "\\" not in address
    return host if plain and host and host.isascii() else None
