"""Transfers of points as entries of an itinerary: from the day they start to the day they post."""

from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, Literal

from mcp_server.toolkit import Call, Part
from mcp_server.toolkit.wording import program_name
from shared.db.trips import ItineraryItem as Row
from shared.domain.dates import format_day
from shared.errors import Fault, Invalid


class PointsTransfer(Part):
    """Points sent from one programme to another; it starts on the day of its entry."""

    from_program: str
    to_program: str
    points: int
    expected_on: date | None
    posted_on: date | None
    state: Literal["under_way", "late", "posted"]


def to_points_transfer(row: Row, today: date) -> PointsTransfer | None:
    if row.from_program is None or row.to_program is None or row.points is None:
        return None
    late = row.expected_on is not None and row.expected_on < today
    return PointsTransfer.from_row(row, state="posted" if row.posted_on else "late" if late else "under_way")


@dataclass(frozen=True)
class SentTransfer:
    """A transfer of points that was sent."""

    from_program: str | None
    to_program: str | None
    points: int | None
    expected_on: date | None
    posted_on: date | None


def read_transfer(call: Call, transfer: SentTransfer) -> dict[str, Any]:
    """Reads its columns, with programmes as slugs. Raises NotFound, Candidates."""
    slugs = {
        name: call.reference.program(text).slug if (text := getattr(transfer, name)) else None
        for name in ("from_program", "to_program")
    }
    return asdict(transfer) | slugs


def name_transfer(call: Call, columns: dict[str, Any]) -> str:
    """`60,000 points, Chase Ultimate Rewards to World of Hyatt`. Raises Invalid."""
    faults = [Fault(n, "is required for a transfer of points", text) for n, text in _EXPECTED.items() if not columns[n]]
    if faults:
        raise Invalid(*faults)
    names = [program_name(call.reference, columns[name]) for name in ("from_program", "to_program")]
    return f"{columns['points']:,} points, {' to '.join(names)}"[:160]


_EXPECTED = {
    "from_program": "the programme the points leave",
    "to_program": "the programme they go to",
    "points": "how many points leave",
}


def check_transfer(row: Row) -> None:
    """Checks that only a transfer has its fields, and that its days are in order. Raises Invalid."""
    columns = ("from_program", "to_program", "points", "expected_on", "posted_on")
    filled = [name for name in columns if getattr(row, name) is not None]
    if row.kind != "points_transfer" and filled:
        raise Invalid(
            *(
                Fault(name, "is only for a transfer of points", "an entry with from_program, to_program and points")
                for name in filled
            )
        )
    if row.kind == "points_transfer" and (lacking := [n for n in _EXPECTED if n not in filled]):
        raise Invalid(*(Fault(n, "is required for a transfer of points", _EXPECTED[n]) for n in lacking))
    for name in ("expected_on", "posted_on"):
        if row.day and (until := getattr(row, name)) and until < row.day:
            raise Invalid(Fault(name, "is before the transfer started", f"a day from {row.day.isoformat()}"))


def describe_transfer(title: str, transfer: PointsTransfer) -> str:
    if transfer.state == "late" and transfer.expected_on:
        return f"Not posted yet, though expected by {format_day(transfer.expected_on)}: {title}."
    until = f", expected by {format_day(transfer.expected_on)}" if transfer.expected_on else ""
    return f"Under way: {title}{until}."
