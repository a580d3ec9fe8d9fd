"""Addresses of the tool endpoint on each host: all of it, and narrower ones below it (RFC 8707, RFC 9728)."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from shared.domain.tool_profiles import AREAS, CORE, MAX_TOOLS, PROFILES

PARTS = "/mcp/x/"  # followed by a profile, or areas with commas between them
CARD = "/server-card"  # below each address, for programs that look first (SEP-2127)
_MAX_CHARACTERS = 300  # of that part; all the areas together have fewer


@dataclass(frozen=True)
class McpAddress:
    """One path that answers as a separate endpoint, with its own resource metadata."""

    path: str
    about: str  # what it offers, for people
    read_only: bool = False  # lists and runs only tools that read
    tools: frozenset[str] = frozenset()  # lists and runs only these; empty: all
    areas: frozenset[str] = frozenset()  # lists and runs only tools of these; empty: all
    finds: bool = False  # lists a few tools, and those to find and run all others

    def lists(self, name: str, area: str, *, reads: bool) -> bool:
        return name in CORE if self.finds else self.offers(name, area, reads=reads)

    def offers(self, name: str, area: str, *, reads: bool) -> bool:
        is_selected = (not self.tools or name in self.tools) and (not self.areas or area in self.areas)
        return is_selected and (reads or not self.read_only)


def _build_profile(name: str) -> McpAddress:
    about, tools = PROFILES[name]
    return McpAddress(PARTS + name, f"{len(tools)} {about}", tools=tools)


WHOLE = McpAddress("/mcp", "every tool")
READONLY = McpAddress("/mcp/readonly", "the tools that only read", read_only=True)
LEAN = McpAddress("/mcp/lean", "every tool, most of them found by a search", finds=True)
ADDRESSES = {address.path: address for address in (WHOLE, READONLY, LEAN, *map(_build_profile, PROFILES))}


def find_address(path: str) -> McpAddress | None:
    """The address of a request's path, with or without a slash at its end; None for every other path.

    Areas may be in any order; `path` of the result has them from A to Z.
    """
    path = path.removesuffix("/")
    if address := ADDRESSES.get(path):
        return address
    # The words below /mcp/x/, whatever they say; None for other paths.
    words = path.removeprefix(PARTS)
    areas = frozenset(words.split(",")) if words != path and len(words) <= _MAX_CHARACTERS else None
    return _join_areas(areas) if areas and areas <= AREAS.keys() and _count_tools(areas) <= MAX_TOOLS else None


def _count_tools(areas: Iterable[str]) -> int:
    return sum(AREAS[name] for name in areas)


@lru_cache(maxsize=256)
def _join_areas(areas: frozenset[str]) -> McpAddress:
    names = sorted(areas)
    words = " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))).replace("_", " ")
    about = f"the {_count_tools(names)} tools of {'the area' if len(names) == 1 else 'the areas'} {words}"
    return McpAddress(PARTS + ",".join(names), about, areas=areas)


def describe_fault(path: str) -> str | None:
    """Why a path below /mcp/x is no address, and which are; None for an address, its card, or other paths."""
    if not f"{path}/".startswith(PARTS) or find_address(path.removesuffix(CARD)):
        return None
    words = [word for word in path.removeprefix(PARTS.rstrip("/")).strip("/").split(",") if word][: len(AREAS)]
    areas = list(dict.fromkeys(word for word in words if word in AREAS))
    if len(areas) == len(set(words)) and (count := _count_tools(areas)) > MAX_TOOLS:
        fitting = _keep_fitting(areas)
        why = f"These areas have {count} tools and an address has at most {MAX_TOOLS}; {PARTS}{','.join(fitting)} fits."
    else:
        why = f"{PARTS}… takes one profile, or areas with commas between them."
    sizes = ", ".join(f"{name} ({count})" for name, count in AREAS.items())
    return f"{why} Profiles: {', '.join(PROFILES)}. Areas and their tools: {sizes}. Every tool is at {WHOLE.path}."


def _keep_fitting(areas: Iterable[str]) -> list[str]:
    """Keeps those that fit together, the first ones before the others."""
    fitting: list[str] = []
    for area in areas:
        if _count_tools([*fitting, area]) <= MAX_TOOLS:
            fitting.append(area)
    return sorted(fitting)


def is_covered(asked: McpAddress, granted: McpAddress | None) -> bool:
    """Whether a grant for one address covers another: the same one, or any if it is the whole."""
    return granted is not None and granted in (asked, WHOLE)


def find_resource(identifier: str, wholes: Iterable[str]) -> McpAddress | None:
    """The address that a resource identifier names in its normal form, of hosts whose whole endpoints are given."""
    for whole in wholes:
        path = identifier.removeprefix(whole.removesuffix(WHOLE.path))
        if path != identifier and (address := find_address(path)) and address.path == path:
            return address
    return None
