"""Flights of an advisor's document, each with its price per traveller, for the party, and in cash."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal

from shared.documents.recommendation import FlightLine
from shared.domain.dates import format_day
from shared.domain.flight_times import format_flight_times
from shared.domain.party_prices import describe_party, format_money
from shared.domain.plurals import pluralize
from shared.domain.source_names import name_source
from shared.errors import Refusal
from shared.reference.load import Reference
from shared.services.proposals.flight_rows import FlightRow
from shared.services.proposals.transfer_notes import find_program

STALE_AFTER = timedelta(hours=24)


@dataclass(frozen=True)
class SeenFare:
    """The lowest fare of one passenger that a search saw for a journey."""

    price: Decimal
    currency: str
    source: str
    seen_at: datetime


def describe_flight(row: FlightRow, reference: Reference, fare: SeenFare | None = None) -> FlightLine:
    ends = (row.origin, row.destination) if row.origin and row.destination else None
    departs, _, arrives = format_flight_times(row.departs_at, row.arrives_at, "|").partition("|")
    day = f"{row.date:%a} {_format_day(row.date)}" if row.date else ""
    stops = "" if row.stops is None else pluralize(row.stops, "stop") if row.stops else "nonstop"
    numbers = ", ".join(row.flight_numbers or ())
    cabin = (row.cabin or "").replace("_", " ").capitalize()
    airline = row.airline or next(iter(row.carriers or ()), None)
    check_text = f"checked {_format_moment(row.provider_checked_at)}" if row.provider_checked_at else ""
    cached = "stored result" if row.mode == "cached" else ""
    seats_text = "" if row.seats is None else pluralize(row.seats, "seat")
    return FlightLine(
        ends=ends or (numbers, ""),
        times=(departs, arrives),
        day=day,
        flown=_airline_name(airline, reference),
        flown_more=_join([cabin, stops, numbers if ends else ""]),
        program=_program_name(row.program, reference) if row.points is not None or row.program else "Cash fare",
        program_more=_join([_join([name_source(row.source or ""), cached]), check_text], "\n"),
        price=_describe_price(row),
        price_more=_join([_describe_party(row), _describe_taxes(row), _describe_cash(row, fare), seats_text], "\n"),
    )


def _join(parts: Iterable[str], between: str = " \u00b7 ") -> str:
    return between.join(p for p in parts if p)


def _format_day(day: date) -> str:
    return f"{day.day}\u00a0{day:%b}\u00a0{day:%Y}"


def _format_moment(moment: datetime) -> str:
    return f"{_format_day(moment)} {moment:%H:%M}" + (" UTC" if moment.utcoffset() == timedelta(0) else "")


def _airline_name(text: str | None, reference: Reference) -> str:
    try:
        return reference.airline(text).name if text else ""
    except Refusal:  # an unknown name is shown unchanged
        return text or ""


def _program_name(text: str | None, reference: Reference) -> str:
    program = find_program(text, reference)
    return program.name if program else text or ""


def _describe_price(row: FlightRow) -> str:
    if row.points is not None:
        return f"{pluralize(row.points * row.passengers, 'point')} for {describe_party(row.passengers)}"
    return _format_money(row.price, row.currency) if row.price is not None else "price not known"


def _format_money(amount: Decimal, currency: str | None) -> str:
    return format_money(amount, currency.upper()) if currency else f"{amount:,.2f}"


def _each(row: FlightRow) -> str:
    return "each" if row.passengers > 1 else "per person"


def _describe_party(row: FlightRow) -> str:
    """Says that points are per person, or that a fare is for everyone."""
    if row.points is None:
        return "" if row.price is None else "for all travellers"
    return f"{row.points:,} each" if row.passengers > 1 else ""


def _describe_taxes(row: FlightRow) -> str:
    if row.points is None:
        return ""
    if row.taxes is None:
        return "taxes not known"
    taxes = f"+ {_format_money(row.taxes, row.taxes_currency)} taxes {_each(row)}"
    in_all = _format_money(row.taxes * row.passengers, row.taxes_currency)
    return f"{taxes}, {in_all} in\u00a0all" if row.passengers > 1 else taxes


def _describe_cash(row: FlightRow, fare: SeenFare | None) -> str:
    """The cash price of an award's seats: the row's, for the whole party, else one seen by a search."""
    if row.points is None:
        return ""
    if row.price is not None:
        party = "all travellers" if row.passengers == 1 else describe_party(row.passengers)
        return f"or {_format_money(row.price, row.currency)} in cash for {party}"
    if fare is None:
        return ""
    cash = f"or {_format_money(fare.price, fare.currency)} in cash {_each(row)}"
    total = _format_money(fare.price * row.passengers, fare.currency)
    in_all = f", {total} in\u00a0all" if row.passengers > 1 else ""
    return f"{cash}{in_all}, seen {format_day(fare.seen_at.date())}"


def find_stale_rows(rows: Sequence[FlightRow], now: datetime) -> list[str]:
    """Names of the rows whose seats were checked more than a day ago."""
    return [
        f"flights[{index}]"
        for index, row in enumerate(rows)
        if (checked_at := row.provider_checked_at)
        and checked_at.utcoffset() is not None
        and now - checked_at > STALE_AFTER
    ]
