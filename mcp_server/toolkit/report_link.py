"""The address of the page for reporting a wrong fact, with its subject filled in."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote_plus

from shared.settings import settings

PAGE_PATH, API_PATH = "/facts/report", "/api/v1/facts/report"
MAX_ARGUMENT_CHARACTERS = 60
MAX_KEY_CHARACTERS = 120  # of what is filled in; the page accepts more


def build_report_link(*, file: str | None = None, tool: str | None = None, key: str = "") -> str:
    """The page for a fact: the file or the tool it is from, and its subject."""
    fields = {"file": file, "tool": tool, "key": quote_plus(key[:MAX_KEY_CHARACTERS])}  # the others are plain words
    return f"{settings().web_url}{PAGE_PATH}?{'&'.join(f'{name}={text}' for name, text in fields.items() if text)}"


def describe_call(arguments: Mapping[str, Any]) -> str:
    """The subject of a call, from its short texts: longer ones may be a person's whole documents."""
    texts = {name: value for name, value in arguments.items() if isinstance(value, str) and value}
    return ", ".join(f"{name} {text}" for name, text in texts.items() if len(text) <= MAX_ARGUMENT_CHARACTERS)
