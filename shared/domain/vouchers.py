"""State of a voucher, and what its limits say of a booking."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal

from shared.domain.dates import format_day
from shared.domain.plurals import pluralize

State = Literal["held", "applied", "expired"]
BookingType = Literal["flight", "hotel"]


@dataclass(frozen=True)
class VoucherLimits:
    """The limits of a kind of voucher, the fields of its fact that decide here; empty: unknown."""

    kind: str
    program: str | None
    booking_kind: str | None  # award or cash, where the voucher needs it
    validity_rule: str
    limits: str | None  # in words: limits without a field below
    used_by: str | None  # what must happen by its last day: booking or travel
    cabins: tuple[str, ...]
    airlines: tuple[str, ...]
    min_people: int | None
    max_people: int | None
    max_nights: int | None
    categories: tuple[str, ...]  # of hotels
    max_points: int | None  # of a night
    added_points: str | None  # what a person may add to max_points: a number, or any
    companion_share: Decimal | None  # of one traveller's points, taken off where two or more fly on award seats
    solo_share: Decimal | None  # the same where one flies alone


@dataclass(frozen=True, kw_only=True)
class Use:
    """The flight or stay a voucher is put on; None: not known.

    `program` is the hotel's, or the one whose points paid the flight; `points` are those of one night or one traveller.
    """

    what: Literal["flight", "stay"]
    starts: date
    ends: date
    program: str | None = None
    airline: str | None = None
    cabin: str | None = None
    people: int | None = None
    category: str | None = None
    points: int | None = None

    @property
    def nights(self) -> int | None:
        return (self.ends - self.starts).days if self.what == "stay" else None


@dataclass(frozen=True)
class Fit:
    """Reasons against a use and what could not be compared, in sentences; and the points it costs as well."""

    clashes: Sequence[str]
    doubts: Sequence[str]
    added_points: int = 0


def get_voucher_state(expires_on: date | None, applied: bool, today: date) -> State:
    """A voucher on a booking stays applied after its last day. The last day itself still counts."""
    if applied:
        return "applied"
    return "expired" if expires_on is not None and expires_on < today else "held"


def judge_use(limits: VoucherLimits, expires_on: date | None, use: Use, name_program: Callable[[str], str]) -> Fit:
    """Compares what is known of a voucher with what is known of a booking. A clash is certain, a doubt is not."""
    noun = "certificate" if limits.kind == "free_night" else "voucher"
    clashes = [*_judge_days(limits, expires_on, use, noun), *_judge_place(limits, use, noun, name_program)]
    clashes += _judge_numbers(limits, use, noun)
    doubts = [] if clashes else list(_list_doubts(limits, expires_on, use, noun))
    over = (use.points or 0) - (limits.max_points or 0) if limits.max_points else 0
    return Fit(clashes, doubts, 0 if clashes else max(over, 0))


def count_points_off(limits: VoucherLimits, expires_on: date | None, use: Use) -> int:
    """The points that a voucher takes off an award flight of the party; 0 unless everything known is for it.

    A flight after the voucher's last day counts only where the booking alone must be made by then.
    """
    share = limits.companion_share if (use.people or 0) > 1 else limits.solo_share
    is_late = expires_on is not None and use.ends > expires_on and limits.used_by != "booking"
    if share is None or use.points is None or use.program != limits.program or is_late:
        return 0
    return 0 if judge_use(limits, expires_on, use, str).clashes else int(use.points * share)


def _judge_days(limits: VoucherLimits, expires_on: date | None, use: Use, noun: str) -> Iterator[str]:
    if expires_on is None or limits.used_by != "travel":
        return
    if use.starts > expires_on:
        verb = "begins" if use.what == "stay" else "leaves"
        yield f"The {noun} ends on {format_day(expires_on)}; the {use.what} {verb} on {format_day(use.starts)}."
    elif use.what == "flight" and use.ends > expires_on:
        yield f"The {noun} ends on {format_day(expires_on)}; the last flight leaves on {format_day(use.ends)}."


def _judge_place(limits: VoucherLimits, use: Use, noun: str, name_program: Callable[[str], str]) -> Iterator[str]:
    """The programme, the airline, the cabin and the category."""
    is_bound = use.what == "stay" or limits.booking_kind == "award"
    if is_bound and limits.program and use.program not in (None, limits.program):
        whose = "the hotel is of" if use.what == "stay" else "the flight was paid with points of"
        yield f"The {noun} is of {name_program(limits.program)}; {whose} {name_program(use.program or '')}."
    if limits.airlines and use.airline and use.airline not in limits.airlines:
        yield f"The {noun} is for flights of {_join(limits.airlines)}; this one is of {use.airline}."
    if limits.cabins and use.cabin and use.cabin not in limits.cabins:
        cabins = _join([name.replace("_", " ") for name in limits.cabins])
        yield f"The {noun} is for {cabins}; the flight is in {use.cabin.replace('_', ' ')}."
    if limits.categories and use.category and use.category not in limits.categories:
        yield f"The {noun} pays category {_join(limits.categories)}; the hotel is of category {use.category}."


def _judge_numbers(limits: VoucherLimits, use: Use, noun: str) -> Iterator[str]:
    if limits.min_people and use.people is not None and use.people < limits.min_people:
        yield f"The {noun} is for {limits.min_people} travellers; the booking is for {use.people}."
    if limits.max_people and use.people is not None and use.people > limits.max_people:
        yield f"The {noun} is for at most {limits.max_people} travellers; the booking is for {use.people}."
    if limits.max_nights and use.nights is not None and use.nights > limits.max_nights:
        yield f"The {noun} is for at most {pluralize(limits.max_nights, 'night')}; the stay is of {use.nights}."
    if limits.max_points and use.points is not None and limits.added_points != "any":
        extra = int(limits.added_points or 0)
        if use.points > limits.max_points + extra:
            added = f" and {extra:,} of your own" if extra else ""
            yield f"The {noun} pays a night of up to {limits.max_points:,} points{added}; it costs {use.points:,}."


def _list_doubts(limits: VoucherLimits, expires_on: date | None, use: Use, noun: str) -> Iterator[str]:
    """Lists, for a person, what cannot be compared, quoting the source."""
    if limits.categories and use.what == "stay" and use.category is None:
        yield f"The hotel's category is not known; the {noun} pays category {_join(limits.categories)}."
    if limits.max_points and use.points is None:
        yield f"What a night costs in points is not known; the {noun} pays up to {limits.max_points:,}."
    if expires_on is not None and use.ends > expires_on and limits.used_by != "booking":
        rule = f'Its rule: "{limits.validity_rule}".'
        yield f"The {noun} ends on {format_day(expires_on)}, before the {use.what} does. {rule}"
    if limits.limits:
        yield f'Its terms also say: "{limits.limits}".'


def _join(names: Collection[str]) -> str:
    """`BA, IB or EI`; categories in a row as `1 to 4`."""
    parts = list(names)
    digits = [name for name in parts if name.isdigit()]
    if len(digits) > 2:
        parts = [f"{digits[0]} to {digits[-1]}", *(name for name in parts if not name.isdigit())]
    return " or ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
