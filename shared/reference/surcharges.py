"""Airlines' cash surcharges on awards, as levels by programme, and the check of their list."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from shared.domain.plans import CABINS
from shared.reference.keys import Tables, list_rows
from shared.reference.reference import Reference
from shared.reference.rows.award_charts import Surcharge

LEVELS = ("none", "low", "moderate", "high", "very_high")  # from the cheapest
ANY = "*"  # the programme's rule for every airline without a separate row


class SurchargeLevel(NamedTuple):
    """One programme's surcharge on some of the requested airlines."""

    program: str
    airlines: tuple[str, ...]
    row: Surcharge
    is_one_of_several: bool = False


def find_surcharges(reference: Reference, program: str, airlines: Collection[str]) -> list[SurchargeLevel]:
    """All known surcharges of these airlines when booked with this programme, for any cabin."""
    own = {c for c in airlines if (a := reference.airlines.get(c)) and a.program == program}
    levels = []
    for row in reference.rows("carrier_surcharges.csv"):
        named = set(airlines) if row.operating_carrier == ANY else set(row.operating_carrier.split("|"))
        carriers = named & set(airlines)
        if row.booked_with is None:
            carriers &= own
        if carriers and row.booked_with in (None, program):
            levels.append(SurchargeLevel(program, tuple(sorted(carriers)), row))
    return levels


def rank_programs(
    reference: Reference, airlines: Collection[str], cabin: str, programs: Collection[str] = ()
) -> list[SurchargeLevel]:
    """The level of each programme that books one of the airlines, the lowest first.

    The rule for every other airline never applies to one that a row names, even if only for another cabin.
    """
    levels: dict[tuple[str, Surcharge], list[str]] = {}
    for program in programs or reference.programs:
        own = {a.iata for a in reference.airlines_of(reference.programs[program])}
        sold = [a for a in airlines if a in own or reference.partner(program, a)]
        of_program = find_surcharges(reference, program, sold)
        for airline in sold:
            of_airline = [f.row for f in of_program if airline in f.airlines]
            if any(row.operating_carrier != ANY for row in of_airline):
                of_airline = [row for row in of_airline if row.operating_carrier != ANY]
            if fitting := [row for row in of_airline if row.cabin == "any" or cabin in row.cabin.split("|")]:
                row = min(fitting, key=lambda r: (r.booked_with is None, r.cabin == "any"))
                levels.setdefault((program, row), []).append(airline)
    rows_of = Counter(program for program, _ in levels)
    ranked = [SurchargeLevel(p, tuple(sorted(on)), row, rows_of[p] > 1) for (p, row), on in levels.items()]
    return sorted(ranked, key=lambda r: (LEVELS.index(r.row.level), r.row.usd_low or 0, r.program, r.airlines))


def group_levels(ranked: Iterable[SurchargeLevel]) -> dict[str, list[SurchargeLevel]]:
    """The programmes of each level, the lowest first; one with several levels is under its lowest."""
    lowest: dict[str, SurchargeLevel] = {}
    for one in ranked:
        lowest.setdefault(one.program, one)
    groups: dict[str, list[SurchargeLevel]] = {}
    for one in lowest.values():
        groups.setdefault(one.row.level, []).append(one)
    return groups


def list_nonstop_carriers(reference: Reference, starts: Sequence[str], ends: Sequence[str]) -> list[str]:
    """The carriers known to fly non-stop between two places."""
    flights = reference.flights.items()
    return sorted(c for c, f in flights if any(end in f.pairs.get(start, ()) for start in starts for end in ends))


def find_faults(tables: Tables) -> Iterator[str]:
    for where, row in list_rows(tables, "carrier_surcharges.csv"):
        if row.level not in LEVELS:
            yield f"{where}: level {row.level!r} is not one of {', '.join(LEVELS)}"
        if row.cabin != "any":
            yield from (f"{where}: {c!r} is not a cabin" for c in row.cabin.split("|") if c not in CABINS)
        if row.usd_low is not None and row.usd_high is not None and row.usd_low > row.usd_high:
            yield f"{where}: usd_low is above usd_high"
