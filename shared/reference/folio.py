"""The rulebook of the folio audit, compiled from its files, and the checks of those files."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import time
from functools import lru_cache
from typing import Any, get_args

from shared.domain.folio.audit import CHECKS
from shared.domain.folio.kinds import DECIDING
from shared.domain.folio.model import Chain, FindingKind, Rule, Rulebook, Severity
from shared.domain.parsing.text import fold
from shared.reference.countries import load_country_names
from shared.reference.reference import Reference
from shared.reference.rows.fact import build_from

_PATTERNS = ("only_text", "only_hotel", "unless_text", "unless_hotel", "unless_line", "sure_text")
TABLES = ("folio/rules.csv", "folio/line_kinds.csv", "folio/benefits.csv", "folio/dispute_refs.csv", "folio/chains.csv")
STAY_TYPES = ("award", "cash", "points_advance")


def find_faults(tables: Mapping[str, Mapping[int, Any]]) -> Iterator[str]:
    """The faults of the folio files, each with file and line."""
    kinds = {row.kind for row in tables["folio/line_kinds.csv"].values()} | {
        "room_tax",
        "resort_fee_tax",
        "parking_tax",
    }
    chains = {row.chain: row.tiers for row in tables["folio/chains.csv"].values()}
    refs = {row.id for row in tables["folio/dispute_refs.csv"].values()}
    for number, row in tables["folio/line_kinds.csv"].items():
        yield from _check_pattern(f"folio/line_kinds.csv:{number}", "words", row.words)
    for number, row in tables["folio/rules.csv"].items():
        yield from _check_rule(f"folio/rules.csv:{number}", row, kinds, chains, refs)
    for number, row in tables["folio/benefits.csv"].items():
        if row.tier not in chains.get(row.chain, ()):
            yield f"folio/benefits.csv:{number}: {row.tier!r} is no tier of {row.chain}"


def _check_pattern(where: str, field: str, words: str | None) -> Iterator[str]:
    try:
        re.compile(words or "")
    except re.error as error:
        yield f"{where}: {field} is no pattern: {error}"


def _check_rule(
    where: str, row: Any, kinds: set[str], chains: Mapping[str, Sequence[str]], refs: set[str]
) -> Iterator[str]:
    allowed_values = {
        "chain": ([row.chain], {"any", *chains}),
        "severity": ([row.severity], get_args(Severity)),
        "kind": ([row.kind], get_args(FindingKind)),
        "check": ([row.check], CHECKS),
        "country": ([row.country] if row.country else [], ("US", "abroad")),
        "stay_types": (row.stay_types, STAY_TYPES),
        "tiers": (row.tiers, chains.get(row.chain) or {t for tiers in chains.values() for t in tiers}),
        "line_kinds": (row.line_kinds, kinds),
        "dispute_refs": (row.dispute_refs, refs),
    }
    for field, (values, allowed) in allowed_values.items():
        yield from (f"{where}: {field} {v!r} is not known" for v in values if v not in allowed)
    for field in _PATTERNS:
        yield from _check_pattern(where, field, getattr(row, field))
    if row.severity != "info" and not row.claim:
        yield f"{where}: a rule that disputes needs a claim"
    try:
        _parse_until(row.until)
    except ValueError:
        yield f"{where}: until is not tier=HH:MM"


def _parse_until(cells: Sequence[str]) -> dict[str, time]:
    return {tier: time.fromisoformat(at) for tier, _, at in (c.partition("=") for c in cells)}


def _compile(words: str | None) -> re.Pattern[str] | None:
    return re.compile(words) if words else None


def _build_rule(row: Any) -> Rule:
    return build_from(
        Rule,
        row,
        stay_types=frozenset(row.stay_types),
        tiers=frozenset(row.tiers),
        line_kinds=frozenset(row.line_kinds),
        until=_parse_until(row.until),
        claim=row.claim or "",
        claim_if=row.claim_if or "",
        exceptions=row.exceptions or "",
        points=(int(row.points[0]), int(row.points[1])) if row.points else None,
        fact=row,
        **{field: _compile(getattr(row, field)) for field in _PATTERNS},
    )


def _compile_kinds(rows: Sequence[Any]) -> dict[str, re.Pattern[str]]:
    """One pattern for each kind, of the words of all languages, in the order of rank."""
    words: dict[str, list[str]] = {}
    for row in sorted(rows, key=lambda r: r.rank):
        words.setdefault(row.kind, []).append(row.words)
    return {kind: re.compile(rf"(?<![a-z])(?:{'|'.join(all_words)})") for kind, all_words in words.items()}


@lru_cache(maxsize=2)
def build_rulebook(reference: Reference) -> Rulebook:
    """Builds the rules once for each load of the reference data."""
    kinds = _compile_kinds(reference.rows("folio/line_kinds.csv"))
    chains = reference.rows("folio/chains.csv")
    return Rulebook(
        rules=[_build_rule(row) for row in reference.rows("folio/rules.csv")],
        kinds=[(kind, words) for kind, words in kinds.items() if kind not in DECIDING],
        words={kind: kinds[kind] for kind in DECIDING},
        chains={c.chain: build_from(Chain, c, apart=frozenset(c.apart)) for c in chains},
        benefits=reference.rows("folio/benefits.csv"),
        food_credits={fold(row.brand): row for row in reference.rows("folio/food_credits.csv")},
        dispute_refs={row.id: row for row in reference.rows("folio/dispute_refs.csv")},
        countries={name: code for name, code in load_country_names().items() if name not in _ALSO_NAMES}
        | _OWN_COUNTRIES,
        cities=_index_cities(reference),
    )


# Cities that are also words of a bill or the names of streets and people.
_ALSO_WORDS = "page nice bath split mobile reading sandy mesa vista allen davis orange date of bar male"
# Countries that are also states, islands, names of people or short words.
_ALSO_NAMES = frozenset(("georgia", "us", "chad", "jersey", "jordan", "guam"))
# Names of states shared with no other country or city here.
_STATES = (
    "california florida texas illinois massachusetts pennsylvania arizona colorado nevada hawaii oregon ohio "
    "michigan minnesota tennessee louisiana virginia maryland missouri wisconsin utah kentucky connecticut"
)
# Countries by the names that hotels print.
_OWN_COUNTRIES = {
    "deutschland": "DE", "osterreich": "AT", "schweiz": "CH", "suisse": "CH", "espana": "ES", "italia": "IT",
    "nederland": "NL", "belgique": "BE", "belgie": "BE", "brasil": "BR", "mexico": "MX", "polska": "PL", "ceska": "CZ",
    "magyarorszag": "HU", "suomi": "FI", "sverige": "SE", "norge": "NO", "danmark": "DK", "turkiye": "TR",
    "u.s.a": "US", "u.k": "GB",
}  # fmt: skip
_OWN_CITIES = {
    "new york": "US", "wien": "AT", "munchen": "DE", "koln": "DE",
    "roma": "IT", "milano": "IT", "firenze": "IT", "venezia": "IT", "lisboa": "PT", "praha": "CZ", "genf": "CH",
    "zurich": "CH", "geneve": "CH", "bruxelles": "BE", "brussel": "BE", "den haag": "NL", "kobenhavn": "DK",
}  # fmt: skip


def _index_cities(reference: Reference) -> dict[str, str]:
    """States, and cities with chain hotels whose name is unique to one country."""
    countries: dict[str, set[str]] = {}
    for hotel in reference.rows("hotels.csv"):
        if hotel.city and hotel.country:
            countries.setdefault(fold(hotel.city), set()).add(hotel.country)
    words = _ALSO_WORDS.split()
    names = {city: codes.pop() for city, codes in countries.items() if len(codes) == 1 and city not in words}
    return names | dict.fromkeys(_STATES.split(), "US") | _OWN_CITIES
