"""Data in `_meta` that screens show and no model reads: marks of programmes and airlines, and maps of routes.

Letters, hues and maps are the same as on the pages; an answer without a screen has none.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from shared.documents.route_map import lay_out_map
from shared.domain.marks import find_mark
from shared.reference.load import reference
from shared.services.bookings.flight_maps import find_legs

KEY = "award-travel/faces"
_NAMED = frozenset({"program", "airline", "from_program", "to_program", "target_program"})
_PLANS = ("best", "fallback", "nearby")


def draw_faces(data: Mapping[str, Any]) -> dict[str, Any]:
    """`marks` are two letters and a hue by slug or code; `maps` are by plan, or one named `route`."""
    marks = {code: find_mark(code) for code in sorted(set(_find_codes(data)))}
    maps = {name: lay_out_map(find_legs(reference(), routes)) for name, routes in _find_routes(data)}
    return {KEY: {"marks": marks, "maps": {name: asdict(route) for name, route in maps.items() if route}}}


def _find_codes(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            if key in _NAMED and isinstance(part, str) and part:
                yield part
            elif isinstance(part, Mapping | list):
                yield from _find_codes(part)
    elif isinstance(value, list):
        for part in value:
            yield from _find_codes(part)


def _find_routes(data: Mapping[str, Any]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    plans = [(name, data.get(name)) for name in _PLANS] + [("nearest", (data.get("nearest") or {}).get("plan"))]
    for name, plan in plans:
        if plan:
            seats = [plan["award"], *(plan.get("onward_awards") or []), plan.get("return_award")]
            yield name, [(seat["origin"], seat["destination"]) for seat in seats if seat]
    route = data.get("monitor") or data.get("asked") or {}
    if isinstance(route.get("origin"), str) and isinstance(route.get("destination"), str):
        yield "route", [(route["origin"], route["destination"])]
