"""The settings as this server read them when it started; of secrets, only whether they are set."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import SplitResult, urlsplit

from pydantic import SecretStr

from auth_server.pages.member import Member
from auth_server.pages.operate import operator
from auth_server.pages.operate.operator import SETTINGS, get_for_operator
from auth_server.web.outcomes import FlowResult
from shared.settings import VERSION, Settings, settings

MAX_CHARACTERS = 120  # of a value
SET, NOT_SET = "set", "not set"
_NEVER_SHOWN = ("backup_upload",)  # a command, which may contain a key of the upload target


def show_settings(member: Member) -> FlowResult:
    """Shows the settings of the environment, and those at their defaults."""
    current = settings()
    values = {name: describe_value(name, getattr(current, name)) for name in Settings.model_fields}
    environment = {name.upper(): text for name, text in values.items() if name in current.model_fields_set}
    defaults = {name.upper(): text for name, text in values.items() if name not in current.model_fields_set}
    context = {"environment": environment, "defaults": defaults, "data_mode": current.data_mode, "version": VERSION}
    return operator.show(member, "operate_settings.html", **context)


def describe_value(name: str, value: Any) -> str:
    """A value safe to show: addresses without user names, passwords and queries, and no secrets."""
    if value is None:
        return NOT_SET
    if isinstance(value, SecretStr) or name in _NEVER_SHOWN:
        return SET if str(value) else "empty"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):  # providers of identities, by name; each holds a secret
        return ", ".join(value) or "none"
    text = str(value)
    if "://" in text:
        return _shorten(_strip_address(text))
    return SET if name.endswith("_url") else _shorten(text) or "empty"


def _strip_address(text: str) -> str:
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return SET
    place = f"[{host}]" if ":" in host else host
    return SplitResult(parts.scheme, place if port is None else f"{place}:{port}", parts.path, "", "").geturl()


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}…"


ROUTES = [get_for_operator(SETTINGS, show_settings)]
