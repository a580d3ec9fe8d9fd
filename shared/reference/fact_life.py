"""The life of facts: when they begin and end, whom they hold for, and which may not be counted."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from shared.reference.keys import Tables, list_rows
from shared.reference.rows import FILES
from shared.reference.rows.fact import OfferRow

ANY = "*"  # an explicit "all of them" in a list of conditions, whose empty cell means that it is unknown
ROUTE_STATES = ("active", "ended", "doubtful")
CONDITIONS = {"issuer_rules.csv": "cards", "status_matches.csv": "from_programs"}
_LEAST_SELLERS = 3  # programmes of one alliance that sell a carrier as one of theirs

_FOR_A_TIME = re.compile(r"\b(special|limited|raised|elevated|increased|promotional|launch)\b", re.IGNORECASE)
_NO_FIRST_DAY = re.compile(r"start not shown|only its last day|first day it was seen", re.IGNORECASE)
_ONE_DAY = re.compile(r"\bone day\b", re.IGNORECASE)
_NO_LONGER = re.compile(r"no longer (have|has|list|a partner)|check before|check whether|may have ended", re.IGNORECASE)
_CHILD = re.compile(r"\bchild", re.IGNORECASE)
_UNKNOWN_SPLIT = re.compile(r"split\b[^;.]*\bnot (known|captured)|(destinations|routes) cost more than", re.IGNORECASE)


def find_faults(tables: Tables) -> Iterator[str]:
    yield from _check_offers(tables)
    yield from _check_routes(tables)
    yield from _check_conditions(tables)
    yield from _check_splits(tables)
    yield from _check_topics(tables)


def _list_texts(row: Any) -> str:
    """What an offer says of itself, for readers and for auditors."""
    return " ".join(getattr(row, name, None) or "" for name in ("extra", "requirement", "remark", "note"))


def _check_offers(tables: Tables) -> Iterator[str]:
    for name in (file for file, kind in FILES.items() if issubclass(kind, OfferRow)):
        for where, row in list_rows(tables, name):
            texts = _list_texts(row)
            if row.valid_to is None and (word := _FOR_A_TIME.search(texts)):
                yield f"{where}: an offer called {word.group().lower()} needs valid_to, its last day"
            if row.valid_from is None:
                continue
            if _NO_FIRST_DAY.search(texts):
                yield f"{where}: its note says that the first day is not known: leave valid_from empty"
            elif row.valid_from == row.valid_to and not _ONE_DAY.search(texts):
                yield f"{where}: it holds one day only: say `one day` in the note, or leave valid_from empty"


def _check_routes(tables: Tables) -> Iterator[str]:
    for where, row in list_rows(tables, "transfer_partners.csv"):
        if row.status not in ROUTE_STATES:
            yield f"{where}: status {row.status!r} is not one of {', '.join(ROUTE_STATES)}"
        if row.status == "active" and (doubt := _NO_LONGER.search(row.note or "")):
            yield f"{where}: its note says {doubt.group().lower()!r}: the status is doubtful or ended"
        if row.status == "doubtful" and not row.note:
            yield f"{where}: a doubtful route says in its note why"


def _check_conditions(tables: Tables) -> Iterator[str]:
    """An empty condition is unknown; what holds for all says so."""
    for name, field in CONDITIONS.items():
        for where, row in list_rows(tables, name):
            values = getattr(row, field)
            if ANY in values and len(values) > 1:
                yield f"{where}: {field} holds {ANY} for all, and others"
    for where, row in list_rows(tables, "issuer_rules.csv"):
        if not row.cards:
            yield f"{where}: cards is empty, so it is not known whom it holds for: name them, or {ANY} for all"


def _check_splits(tables: Tables) -> Iterator[str]:
    """A chart with a split that is not known has no price where it splits, so its texts need not speak of it."""
    for where, row in list_rows(tables, "award_charts.csv"):
        for field in ("remark", "note"):
            if text := _UNKNOWN_SPLIT.search(getattr(row, field) or ""):
                yield f"{where}: its {field} says {text.group()!r}: take out the prices that are not known"


def _check_topics(tables: Tables) -> Iterator[str]:
    """A rule for children filed under the topic infants is not found by a question about a child."""
    for where, row in list_rows(tables, "program_facts.csv"):
        if row.topic == "infants" and _CHILD.search(row.answer):
            yield f"{where}: its answer speaks of a child, which belongs in a row of the topic children"


def find_alliance_faults(tables: Tables) -> Iterator[str]:
    """A carrier that three programmes of one alliance sell by the alliance is a member, or was one until a day."""
    alliances: dict[str, set[str]] = defaultdict(set)
    for row in tables["alliance_members.csv"].values():
        alliances[row.airline].add(row.alliance)
    of_program = {
        row.slug: {alliance for code in row.iata for alliance in alliances.get(code, ())}
        for row in tables["programs.csv"].values()
    }
    sellers: dict[tuple[str, str], list[str]] = defaultdict(list)
    first_lines: dict[tuple[str, str], str] = {}
    for where, row in list_rows(tables, "program_partners.csv"):
        if row.via == "alliance":
            for alliance in of_program.get(row.program, ()):
                sellers[row.airline, alliance].append(row.program)
                first_lines.setdefault((row.airline, alliance), where)
    for (airline, alliance), programs in sellers.items():
        if len(programs) >= _LEAST_SELLERS and airline not in alliances:
            yield (
                f"{first_lines[airline, alliance]}: {len(programs)} programmes of {alliance} sell {airline} by the"
                " alliance, and alliance_members.csv has it in none"
            )


__all__ = ["ANY", "find_alliance_faults", "find_faults"]
