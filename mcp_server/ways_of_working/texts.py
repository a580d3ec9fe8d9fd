"""The texts of this folder, read once: name, use and arguments of each."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

_FENCE = "+++\n"
_RULES = "rules.md"
_TOOL_NAME = re.compile(r"`([a-z]+(?:_[a-z0-9]+)+)`")
# Words in backticks that name no tool: statuses of a result.
STATUSES = frozenset(("no_data", "confirmation_required", "limit_reached"))


@dataclass(frozen=True)
class Argument:
    """One thing a person may give in advance. `completes`: airport, program or trip; empty where nothing can help."""

    name: str
    description: str
    completes: str


@dataclass(frozen=True)
class WayOfWorking:
    """One task. `text` is Markdown and has the rules that are common to all."""

    name: str
    title: str
    description: str
    arguments: tuple[Argument, ...]
    text: str

    @property
    def tool_names(self) -> tuple[str, ...]:
        """The tools that the text names, in order."""
        return tuple(dict.fromkeys(name for name in _TOOL_NAME.findall(self.text) if name not in STATUSES))


@cache
def read_ways_of_working() -> Mapping[str, WayOfWorking]:
    """Every way of working by its name, in the order of names."""
    folder = files(__package__)
    rules = folder.joinpath(_RULES).read_text(encoding="utf-8")
    sources = sorted((f for f in folder.iterdir() if f.name.endswith(".md") and f.name != _RULES), key=lambda f: f.name)
    ways = (parse_way(f.name.removesuffix(".md"), f.read_text(encoding="utf-8"), rules) for f in sources)
    return {way.name: way for way in ways}


def parse_way(stem: str, source: str, rules: str) -> WayOfWorking:
    """A file: a head of TOML between two lines of `+++`, then Markdown. Raises ValueError where the head is missing."""
    before, head, text = source.split(_FENCE, 2)
    if before:
        raise ValueError(f"{stem}: the head must stand first")
    values: dict[str, Any] = tomllib.loads(head)
    arguments = tuple(Argument(a["name"], a["description"], a.get("complete", "")) for a in values.get("arguments", ()))
    whole = f"{text.strip()}\n\n{rules.strip()}\n"
    return WayOfWorking(stem.replace("_", "-"), values["title"], values["description"], arguments, whole)
