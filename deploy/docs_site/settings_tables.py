"""The table of settings: their meaning from deploy/env.example, their defaults from the class of the settings."""

import html
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import SecretStr
from pydantic_core import PydanticUndefined

from shared.settings import Settings

EXAMPLE = Path(__file__).parents[1] / "env.example"
_SECTION = re.compile(r"# --- (?P<title>.+?) -*$")
_FIELD = re.compile(r"^    (?P<name>\w+): .*  # (?P<remark>.+)$", re.M)
_SETTING = re.compile(r"#?(?P<name>[A-Z][A-Z0-9_]+)=")


def write_settings() -> str:
    """One table for each part of the file, with a row for each setting."""
    return "\n".join(_write_lines())


def _write_lines() -> Iterator[str]:
    comment: list[str] = []
    remarks = read_remarks()
    for line in EXAMPLE.read_text(encoding="utf-8").splitlines():
        section, setting = _SECTION.match(line), _SETTING.match(line)
        if section:
            comment = []
            yield from _open_section(section["title"])
        elif setting:
            yield _write_row(setting["name"], " ".join(comment) or remarks.get(setting["name"], ""))
            comment = []
        elif line.startswith("#"):
            comment.append(line.removeprefix("#").strip())


def _open_section(words: str) -> Iterator[str]:
    title, _, remark = words.partition(": ")
    yield f"\n## {title[0].upper()}{title[1:]}\n"
    if remark:
        yield f"{_escape(remark[0].upper() + remark[1:])}\n"
    yield from ("| Setting | Default | Meaning |", "| --- | --- | --- |")


def read_remarks() -> dict[str, str]:
    """The comment next to each field of the class, by the setting's name."""
    parts = (part for part in Settings.__mro__ if part.__module__.startswith("shared."))
    fields = (match for part in parts for match in _FIELD.finditer(inspect.getsource(part)))
    return {field["name"].upper(): field["remark"] for field in fields}


def _write_row(name: str, meaning: str) -> str:
    return f"| `{name}` | {_write_default(name)} | {_escape(meaning)} |"


def _write_default(name: str) -> str:
    field = Settings.model_fields[name.lower()]
    if field.default is PydanticUndefined:
        return "**required**"
    if field.default in (None, "", {}) or field.annotation is SecretStr:
        return "not set"
    return f"`{field.default}`"


def _escape(text: str) -> str:
    return html.escape(text, quote=False).replace("|", "\\|")
