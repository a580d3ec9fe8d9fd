"""Sentences and mail bodies for standing orders: notices, and a model's Markdown as plain text and as safe HTML.

What a model wrote may hold anything a stranger put into some tool's answer. So raw HTML stays text, pictures become
their description, and only https links stay links, with the host they lead to next to the words.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markupsafe import Markup

Facts = Mapping[str, Any]
MAX_NOTICE_CHARACTERS = 600  # of a result that the notice repeats
_MAX_TITLE_CHARACTERS = 60
_REASONS = {
    "not_configured": "this installation has no language model any longer; its operator can set one up",
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
# Styles for the Markdown, like the rest of the mail.
_CELL = "padding:9px 12px 9px 0;border-bottom:1px solid #e3e0d6;font-size:15px;line-height:21px;text-align:left"
STYLES = {
    "heading_open": "margin:20px 0 6px;font-size:18px;line-height:24px;font-weight:650",
    "paragraph_open": "margin:0 0 14px",
    "bullet_list_open": "margin:0 0 14px;padding-left:20px",
    "ordered_list_open": "margin:0 0 14px;padding-left:22px",
    "table_open": "width:100%;margin:0 0 16px;border-collapse:collapse",
    "th_open": f"{_CELL};font-weight:600",
    "td_open": f"{_CELL};vertical-align:top",
    "hr": "margin:18px 0;border:0;border-top:1px solid #e3e0d6",
}
_IMAGE = re.compile(r"!\[([^\]\n]{0,500})\]\([^)\n]{0,2000}\)")
_HOST = re.compile(r"[a-z0-9.-]+", re.ASCII)
_LINK = re.compile(r"\[([^\]\n]{1,500})\]\(([^)\s]{1,2000})(?:\s[^)\n]{0,200})?\)")


def explain_error(word: str) -> str:
    return _REASONS.get(word, "something went wrong")


def shorten_prompt(facts: Facts) -> str:
    """The order's prompt on one line."""
    prompt = " ".join(facts["prompt"].split())
    return prompt if len(prompt) <= _MAX_TITLE_CHARACTERS else f"{prompt[: _MAX_TITLE_CHARACTERS - 1].rstrip()}…"


def title(facts: Facts) -> str:
    return f"Standing order{' without a result' if facts['error'] else ''}: {shorten_prompt(facts)}"


def body(facts: Facts) -> str:
    order_id, error = facts["order_id"], facts["error"]
    if error:
        return f"Standing order {order_id} brought no result: {explain_error(error)}. It runs again at its next time."
    text = as_text(facts["result"])
    if len(text) <= MAX_NOTICE_CHARACTERS:
        return text
    return f"{text[:MAX_NOTICE_CHARACTERS].rstrip()}…\n\nget_standing_order {order_id} shows the whole result."


def as_text(markdown: str) -> str:
    """Markdown reads well as text; pictures lose their address, links that are not https lose theirs."""
    plain = _IMAGE.sub(r"\1", markdown)
    return _LINK.sub(lambda match: f"{match[1]} ({match[2]})" if _https_host(match[2]) else match[1], plain)


def as_html(markdown: str) -> Markup:
    """A result of 20,000 opening brackets, the slowest text found, takes 0.9 s of processor time."""
    return Markup(_renderer().render(markdown))  # noqa: S704 - rendered with raw HTML off


@lru_cache(maxsize=1)
def _renderer() -> MarkdownIt:
    """`js-default` is the library's preset for text no one vouches for: raw HTML is escaped."""
    renderer = MarkdownIt("js-default", {"breaks": True})
    renderer.core.ruler.push("tame", _tame_blocks)
    return renderer


def _tame_blocks(state: StateCore) -> None:
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = "h2"  # the mail's title is the h1
        if style := STYLES.get(token.type):
            token.attrSet("style", f"{style};{own}" if (own := token.attrGet("style")) else style)
        if token.type in ("th_open", "td_open", "hr"):
            token.attrSet("class", "row")
        if token.type == "fence":
            token.info = ""  # would become a class attribute
        if token.children:
            token.children = list(_tame_inline(token.children))


def _tame_inline(tokens: Sequence[Token]) -> Iterator[Token]:
    """Shows the host next to a link's words, which could name another one. Links do not nest."""
    host: str | None = None
    for token in tokens:
        if token.type == "image":
            yield Token("text", "", 0, content=token.content)
        elif token.type == "link_open":
            host = _https_host(str(token.attrGet("href")))
            if host:
                href = token.attrs["href"]
                token.attrs = {"href": href, "rel": "noopener noreferrer", "class": "link", "style": "color:#0f5a4d"}
                yield token
        elif token.type == "link_close":
            if host:
                yield token
                yield Token("text", "", 0, content=f" ({host})")
        else:
            yield token


def _https_host(address: str) -> str | None:
    """None for anything but a plain https address."""
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        return None
    plain = parts.scheme == "https" and "@" not in parts.netloc and "\\" not in address
    return host if plain and host and _HOST.fullmatch(host) else None
