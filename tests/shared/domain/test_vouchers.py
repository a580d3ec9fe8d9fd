"""The state of a voucher on every side of its last day, and its limits compared with bookings."""

from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.domain.plans import CABINS
from shared.domain.vouchers import Use, count_points_off, get_voucher_state, judge_use

TODAY = date(2028, 2, 29)


@pytest.mark.parametrize(
    ("expires_on", "applied", "expected"),
    [
        (None, False, "held"),
        (date(2028, 3, 1), False, "held"),
        (TODAY, False, "held"),
        (date(2028, 2, 28), False, "expired"),
        (None, True, "applied"),
        (date(2028, 3, 1), True, "applied"),
        (date(2028, 2, 28), True, "applied"),
    ],
)
def test_a_voucher_is_held_to_the_end_of_its_last_day_unless_a_booking_uses_it(
    expires_on: date | None, applied: bool, expected: str
) -> None:
    assert get_voucher_state(expires_on, applied, TODAY) == expected


@dataclass(frozen=True)
class Kind:
    kind: str = "free_night"
    program: str | None = "world-of-hyatt"
    booking_kind: str | None = None
    validity_rule: str = "from issue"
    limits: str | None = None
    used_by: str | None = "travel"
    cabins: tuple[str, ...] = ()
    airlines: tuple[str, ...] = ()
    min_people: int | None = None
    max_people: int | None = None
    max_nights: int | None = None
    categories: tuple[str, ...] = ()
    max_points: int | None = None
    added_points: str | None = None
    companion_share: Decimal | None = None
    solo_share: Decimal | None = None


def _maybe(of: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.none() | of


def _some_of(*names: str) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(names), unique=True, max_size=3).map(tuple)


_KINDS = st.builds(
    Kind,
    used_by=st.sampled_from((None, "booking", "travel")),
    booking_kind=st.sampled_from((None, "award", "cash")),
    cabins=_some_of(*CABINS),
    airlines=_some_of("BA", "IB", "AA"),
    min_people=_maybe(st.integers(1, 3)),
    max_people=_maybe(st.integers(3, 5)),
    max_nights=_maybe(st.integers(1, 7)),
    categories=_some_of(*"1234ABC"),
    max_points=_maybe(st.sampled_from((35_000, 50_000))),
    added_points=st.sampled_from((None, "any", "25000")),
)
_USES = st.builds(
    Use,
    what=st.sampled_from(("flight", "stay")),
    starts=st.dates(TODAY, TODAY + timedelta(days=20)),
    ends=st.dates(TODAY + timedelta(days=21), TODAY + timedelta(days=30)),
    program=st.sampled_from((None, "world-of-hyatt", "hilton-honors")),
    airline=st.sampled_from((None, "BA", "QF")),
    cabin=_maybe(st.sampled_from(CABINS)),
    people=_maybe(st.integers(1, 6)),
    category=st.sampled_from((None, "2", "7", "A")),
    points=st.sampled_from((None, 30_000, 40_000, 60_000, 90_000)),
)


def _is_broken(kind: Kind, ends_on: date | None, use: Use) -> bool:
    extra = {None: 0, "any": 10**9, "25000": 25_000}[kind.added_points]
    nights = (use.ends - use.starts).days if use.what == "stay" else None
    must_end = use.starts if use.what == "stay" else use.ends
    bound = use.what == "stay" or kind.booking_kind == "award"
    return any(
        (
            ends_on and kind.used_by == "travel" and must_end > ends_on,
            bound and use.program not in (None, kind.program),
            kind.airlines and use.airline and use.airline not in kind.airlines,
            kind.cabins and use.cabin and use.cabin not in kind.cabins,
            kind.categories and use.category and use.category not in kind.categories,
            use.people and not (kind.min_people or 0) <= use.people <= (kind.max_people or 9),
            nights and nights > (kind.max_nights or 99),
            use.points and use.points > (kind.max_points or 10**9) + extra,
        )
    )


@settings(max_examples=30)
@given(kind=_KINDS, ends_on=_maybe(st.dates(TODAY, TODAY + timedelta(days=40))), use=_USES)
def test_a_voucher_pays_a_booking_exactly_where_no_limit_is_broken(kind: Kind, ends_on: date, use: Use) -> None:
    fit = judge_use(kind, ends_on, use, str)
    assert bool(fit.clashes) == _is_broken(kind, ends_on, use)
    assert all(text.endswith(".") for text in (*fit.clashes, *fit.doubts))


def test_a_clash_names_both_sides_and_what_is_only_prose_is_quoted() -> None:
    stay = Use(what="stay", starts=date(2027, 8, 2), ends=date(2027, 8, 3), category="7", points=45_000)
    kind = Kind(categories=("1", "2", "3", "4"), limits="no resort fee")
    assert judge_use(kind, date(2027, 5, 1), stay, str).clashes == [
        "The certificate ends on 1 May 2027; the stay begins on 2 Aug 2027.",
        "The certificate pays category 1 to 4; the hotel is of category 7.",
    ]
    fit = judge_use(Kind(max_points=35_000, added_points="25000", limits="no resort fee"), None, stay, str)
    assert (fit.clashes, fit.doubts, fit.added_points) == ([], ['Its terms also say: "no resort fee".'], 10_000)


def test_a_voucher_takes_points_off_a_flight_only_where_everything_known_is_for_it() -> None:
    kind = Kind(kind="companion", program="british-airways-club", booking_kind="award", used_by="booking")
    kind = replace(kind, cabins=("economy",), airlines=("BA", "IB"), companion_share=Decimal(1))
    flight = Use(what="flight", starts=TODAY, ends=TODAY, program=kind.program, airline="IB", cabin="economy")
    flight = replace(flight, people=3, points=40_001)
    earlier = date(2020, 1, 1)
    taken = {
        "the second ticket": (kind, flight, None),
        "travel after its last day": (kind, flight, earlier),
        "half of the only ticket": (replace(kind, solo_share=Decimal("0.5")), replace(flight, people=1), None),
    }
    assert [count_points_off(k, ends, use) for k, use, ends in taken.values()] == [40_001, 40_001, 20_000]
    not_taken = {
        "nobody flies along": (kind, replace(flight, people=1), None),
        "how many fly is not known": (kind, replace(flight, people=None), None),
        "another programme": (kind, replace(flight, program="iberia-club"), None),
        "another airline": (kind, replace(flight, airline="AA"), None),
        "another cabin": (kind, replace(flight, cabin="business"), None),
        "too many people": (replace(kind, max_people=2), flight, None),
        "too late to travel": (replace(kind, used_by="travel"), flight, earlier),
        "when it must be used is not known": (replace(kind, used_by=None), flight, earlier),
        "only words say what it takes off": (replace(kind, companion_share=None), flight, None),
    }
    assert {name: off for name, (k, use, ends) in not_taken.items() if (off := count_points_off(k, ends, use))} == {}
