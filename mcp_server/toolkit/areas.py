"""The parameter ?areas=cards,search: the areas of the catalogue a client wants listed."""

from urllib.parse import parse_qsl

from mcp_server.toolkit.registry import TOOLS


class UnknownArea(Exception):
    """Some name is no area; `areas` are all there are."""

    def __init__(self, areas: list[str]) -> None:
        super().__init__(f"Unknown area; the areas are {', '.join(areas)}.")
        self.areas = areas


def parse_areas(query_string: bytes) -> frozenset[str]:
    """The areas named; empty for all. Other parameters are ignored. Raises UnknownArea."""
    if not query_string:
        return frozenset()
    values = [value for name, value in parse_qsl(query_string.decode("latin-1")) if name == "areas"]
    names = frozenset(name.strip() for value in values for name in value.split(",") if name.strip())
    areas = sorted({tool.area for tool in TOOLS.values()})
    if names - set(areas):
        raise UnknownArea(areas)
    return names
