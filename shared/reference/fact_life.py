"""The life of facts: when they begin and end, whom they apply to, and which may not be counted."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from shared.reference.keys import Tables, list_rows
from shared.reference.provenance import GENERAL_KNOWLEDGE
from shared.reference.rows import FILES
from shared.reference.rows.fact import OfferRow

ANY = "*"  # an explicit "all of them" in a list of conditions, whose empty cell means that it is unknown
ROUTE_STATES = ("active", "ended", "doubtful")
CONDITIONS = {"issuer_rules.csv": "cards", "status_matches.csv": "from_programs"}
_LEAST_SELLERS = 3  # programmes of one alliance that sell a carrier as a member

_FOR_A_TIME = re.compile(r"\b(special|limited|raised|elevated|increased|promotional|launch)\b", re.IGNORECASE)
_BEFORE = re.compile(r"\b(\d{1,3}(?:,\d{3})+) (?:after|in)\b")  # "50,000 after 2,000 in June 2026"
_NO_FIRST_DAY = re.compile(r"start not shown|only its last day|first day it was seen", re.IGNORECASE)
_ONE_DAY = re.compile(r"\bone day\b", re.IGNORECASE)
_NO_LONGER = re.compile(
    r"no longer (have|has|list|a partner)|\bcheck\b|may have ended|lists? [^;]*\bnames? [^;]* only", re.IGNORECASE
)
_NO_RATIO = re.compile(r"no page (with|shows) its ratio|ratio (was|is) not (seen|known)", re.IGNORECASE)
_TO_COME = re.compile(r"\b(ends?|begins?|starts?|will)\b[^;.]*\b20\d\d\b", re.IGNORECASE)
_CHILD = re.compile(r"\bchild", re.IGNORECASE)
_SPAN = re.compile(r"\b(\d+) (months|days)\b")
_UNKNOWN_SPLIT = re.compile(r"split\b[^;.]*\bnot (known|captured)|(destinations|routes) cost more than", re.IGNORECASE)


def find_faults(tables: Tables) -> Iterator[str]:
    yield from _check_offers(tables)
    yield from _check_routes(tables)
    yield from _check_conditions(tables)
    yield from _check_splits(tables)
    yield from _check_answers(tables)


def _list_texts(row: Any) -> str:
    """The texts of an offer, for readers and auditors."""
    return " ".join(getattr(row, name, None) or "" for name in ("extra", "requirement", "remark", "note"))


def _check_offers(tables: Tables) -> Iterator[str]:
    for name in (file for file, kind in FILES.items() if issubclass(kind, OfferRow)):
        for where, row in list_rows(tables, name):
            texts = _list_texts(row)
            if row.valid_to is None and (word := _FOR_A_TIME.search(texts)):
                yield f"{where}: an offer called {word.group().lower()} needs valid_to, its last day"
            if row.valid_to is None and (less := _find_less_before(row)):
                yield f"{where}: an offer raised from {less:,} needs valid_to, its last day"
            if row.valid_from is None:
                continue
            if _NO_FIRST_DAY.search(texts):
                yield f"{where}: its note says that the first day is not known: leave valid_from empty"
            elif row.valid_from == row.valid_to and not _ONE_DAY.search(texts):
                yield f"{where}: it holds one day only: say `one day` in the note, or leave valid_from empty"


def _find_less_before(row: Any) -> int | None:
    """The smaller number of points that the card was known to bring before; None where there is none."""
    before = _BEFORE.search(row.note or "")
    amount = int(before[1].replace(",", "")) if before else None
    return amount if amount is not None and amount < (getattr(row, "amount", None) or 0) else None


def _check_routes(tables: Tables) -> Iterator[str]:
    for where, row in list_rows(tables, "transfer_partners.csv"):
        if row.status not in ROUTE_STATES:
            yield f"{where}: status {row.status!r} is not one of {', '.join(ROUTE_STATES)}"
        if row.status == "active" and (doubt := _NO_LONGER.search(row.note or "")):
            yield f"{where}: its note says {doubt.group().lower()!r}: the status is doubtful or ended"
        undated = row.confidence == "low" and "undated" in (row.note or "")
        if row.status == "active" and row.valid_to is None and (undated or row.source_url == GENERAL_KNOWLEDGE):
            yield f"{where}: no page with a day shows an active route: it is doubtful"
        if row.status == "doubtful" and not row.note:
            yield f"{where}: a doubtful route says in its note why"
        if row.ratio_from is not None and _NO_RATIO.search(row.note or ""):
            yield f"{where}: its note says that its ratio was not seen: leave ratio_from and ratio_to empty"


def _check_conditions(tables: Tables) -> Iterator[str]:
    """Checks conditions: an empty one is unknown; one for everyone says so."""
    for name, field in CONDITIONS.items():
        for where, row in list_rows(tables, name):
            values = getattr(row, field)
            if ANY in values and len(values) > 1:
                yield f"{where}: {field} holds {ANY} for all, and others"
    for where, row in list_rows(tables, "issuer_rules.csv"):
        if not row.cards:
            yield f"{where}: cards is empty, so it is not known whom it holds for: name them, or {ANY} for all"
        for number, unit in _SPAN.findall(row.text):  # without its span a rule reaches back for ever
            if getattr(row, unit) != int(number):
                yield f"{where}: its text says {number} {unit}, and {unit} holds {getattr(row, unit)}"


def _check_splits(tables: Tables) -> Iterator[str]:
    """Checks splits; a chart has no price where its split is unknown, so its texts need not mention it."""
    for where, row in list_rows(tables, "award_charts.csv"):
        for field in ("remark", "note"):
            if text := _UNKNOWN_SPLIT.search(getattr(row, field) or ""):
                yield f"{where}: its {field} says {text.group()!r}: take out the prices that are not known"


def _check_answers(tables: Tables) -> Iterator[str]:
    """Answers hold on every day, for their rows have no last one, and stand under the topic people ask for."""
    for where, row in list_rows(tables, "program_facts.csv"):
        if text := _TO_COME.search(row.answer):
            yield f"{where}: its answer says {text.group()!r}, which is wrong after that day: say until or since when"
        if row.topic == "infants" and _CHILD.search(row.answer):
            yield f"{where}: its answer speaks of a child, which belongs in a row of the topic children"


def find_alliance_faults(tables: Tables) -> Iterator[str]:
    """Checks that a carrier sold as a member by three programmes of an alliance is one, or was until a day, and that
    the alliance's other programmes have a row for it, be it that they do not sell it."""
    alliances: dict[str, set[str]] = defaultdict(set)
    for row in tables["alliance_members.csv"].values():
        alliances[row.airline].add(row.alliance)
    homes = {row.airline: row.alliance for row in tables["alliance_members.csv"].values() if row.valid_to is None}
    programs = tables["programs.csv"].values()
    of_program = {row.slug: {homes[code] for code in row.iata if code in homes} for row in programs}
    program_airlines = {(row.slug, code) for row in programs for code in row.iata}
    sellers: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    first_lines: dict[tuple[str, str], str] = {}
    for where, row in list_rows(tables, "program_partners.csv"):
        program_airlines.add((row.program, row.airline))
        for alliance in of_program.get(row.program, ()) if row.via == "alliance" else ():
            sellers[row.airline, alliance][row.program] = where
            first_lines.setdefault((row.program, alliance), where)
    for (airline, alliance), lines in sellers.items():
        if len(lines) < _LEAST_SELLERS:
            continue
        sold = f"{len(lines)} programmes of {alliance} sell {airline} by the alliance"
        if alliance not in alliances[airline]:
            yield f"{next(iter(lines.values()))}: {sold}, and alliance_members.csv does not have it there"
            continue
        for (program, home), where in first_lines.items():
            if home == alliance and (program, airline) not in program_airlines:
                yield f"{where}: {sold}, and {program} has no row for it"


def find_partner_faults(tables: Tables) -> Iterator[str]:
    """Finds surcharges or charts for airlines missing from a programme's partners: one of the two is outdated."""
    sold: dict[str, set[str]] = defaultdict(set)
    for row in tables["program_partners.csv"].values():
        sold[row.program].add(row.airline)
    for row in tables["programs.csv"].values():
        if row.slug in sold:
            sold[row.slug].update(row.iata)
    named = [(w, r.booked_with, r.operating_carrier.split("|")) for w, r in list_rows(tables, "carrier_surcharges.csv")]
    charts = list_rows(tables, "award_charts.csv")
    named += [(w, r.program, r.carriers) for w, r in charts if r.scope == "named_partners" and r.valid_to is None]
    for where, program, airlines in named:
        missing = [code for code in airlines if code != ANY and program in sold and code not in sold[program]]
        if missing:
            yield f"{where}: program_partners.csv has no {', '.join(missing)} for {program}"


__all__ = ["ANY", "find_alliance_faults", "find_faults", "find_partner_faults"]
