"""Which balances pay an award: instant transfers first, then what is cheapest to the person; and what stays."""

from collections import Counter
from dataclasses import replace
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from shared.domain.funding import Funds, find_lacking, find_leftovers, find_payment, find_slowest
from shared.domain.household import Apart
from shared.domain.transfer_options import Purse, Share, Way
from shared.domain.transfers import build_network
from tests.shared.domain.edges import edge

SLOW = replace(edge("hotel", "air", (3, 1), block=3_000), posting="days")
ROUTES = build_network(
    [
        edge("chase", "air", block=1_000, least=1_000),
        edge("capital", "air", (4, 3)),
        replace(edge("amex", "air"), posting="hours"),
        SLOW,
        replace(edge("chase", "other"), posting="days"),
        edge("amex", "other"),
    ]
)


def build_funds(**balances: tuple[int, str]) -> Funds:
    return Funds(ROUTES, [Purse(name, points, Decimal(value)) for name, (points, value) in balances.items()])


def list_sent(ways: tuple[Way, ...]) -> dict[str, int]:
    return {w.purse.program: w.points_sent for w in ways}


def test_instant_transfers_pay_although_a_slow_one_is_cheaper() -> None:
    funds = build_funds(chase=(73_210, "2.0"), capital=(52_000, "1.8"), hotel=(285_000, "0.1"))
    payments = find_payment({"air": 95_000}, funds)
    assert payments is not None
    assert find_slowest(payments["air"]) == "instant"
    assert list_sent(payments["air"]) == {"chase": 73_000, "capital": 29_334}


def test_a_slow_transfer_pays_where_it_is_the_only_way() -> None:
    payments = find_payment({"air": 95_000}, build_funds(chase=(50_000, "2.0"), hotel=(285_000, "0.1")))
    assert payments is not None
    assert find_slowest(payments["air"]) == "days"


def test_of_equally_fast_ways_the_person_s_own_values_decide() -> None:
    dear = find_payment({"air": 30_000}, build_funds(chase=(60_000, "2.0"), capital=(60_000, "1.0")))
    cheap = find_payment({"air": 30_000}, build_funds(chase=(60_000, "1.0"), capital=(60_000, "1.0")))
    assert dear is not None
    assert cheap is not None
    assert (list_sent(dear["air"]), list_sent(cheap["air"])) == ({"capital": 40_000}, {"chase": 30_000})


def test_the_balance_one_programme_needs_is_left_to_it() -> None:
    """Either balance can pay `air`; `other` is instant from amex alone, so chase pays the larger need."""
    funds = build_funds(chase=(50_000, "2.0"), amex=(50_000, "0.5"))
    payments = find_payment({"air": 45_000, "other": 40_000}, funds)
    assert payments is not None
    assert (list_sent(payments["air"]), list_sent(payments["other"])) == ({"chase": 45_000}, {"amex": 40_000})


def test_what_stays_counts_points_that_arrive_beyond_the_need() -> None:
    funds = build_funds(chase=(10_000, "1.5"), air=(500, "1.2"))
    needs = {"air": 2_300}
    payments = find_payment(needs, funds)
    assert payments is not None
    assert find_leftovers(funds.purses, payments, needs) == {"chase": 8_000, "air": 200}


def test_what_is_lacking_is_what_no_balance_can_bring() -> None:
    funds = build_funds(chase=(20_500, "1.5"), air=(5_000, "1.2"))
    assert find_payment({"air": 31_000}, funds) is None
    assert find_lacking({"air": 31_000}, funds) == {"air": 6_000}
    both = build_funds(amex=(40_000, "1.5"))
    assert find_lacking({"air": 30_000, "other": 15_000}, both) == {"other": 5_000}


@given(
    needs=st.dictionaries(st.sampled_from(["air", "other"]), st.integers(1, 90_000), min_size=1),
    held=st.dictionaries(st.sampled_from(["chase", "capital", "amex", "hotel", "air"]), st.integers(0, 200_000)),
)
def test_points_are_neither_made_nor_lost(needs: dict[str, int], held: dict[str, int]) -> None:
    funds = Funds(ROUTES, [Purse(name, points, Decimal(1)) for name, points in held.items()])
    payments = find_payment(needs, funds)
    if payments is None:
        return
    left = find_leftovers(funds.purses, payments, needs)
    assert min(left.values()) >= 0
    for program, points in needs.items():
        assert sum(w.points_delivered for w in payments[program]) >= points


def test_a_shortfall_counts_once_what_two_programmes_could_have() -> None:
    """60,000 bring 20,000 of one of the two: the other lacks all that it needs."""
    routes = build_network([edge("bank", "air", (3, 1)), edge("bank", "other", (3, 1))])
    funds = Funds(routes, [Purse("bank", 60_000, Decimal(1))])
    assert find_lacking({"air": 100_000, "other": 77_000}, funds) == {"air": 80_000, "other": 77_000}


def test_a_shortfall_goes_by_no_way_that_an_expert_would_not_name() -> None:
    poor, far = edge("hotel", "air", (30, 1)), edge("hub", "air")
    routes = build_network([edge("bank", "hotel"), poor, edge("hotel", "hub"), far])
    funds = Funds(routes, [Purse("bank", 60_000, Decimal(1))])
    assert find_lacking({"air": 50_000}, funds) == {"air": 50_000}
    assert find_payment({"air": 1_000}, funds) is None


HELD = st.lists(
    st.builds(
        lambda program, points, others: Purse(
            program, points, Decimal(1), others=tuple(Share(f"Member {n}", held) for n, held in enumerate(others))
        ),
        st.sampled_from(["chase", "capital", "amex", "air", "other", "hotel"]),
        st.integers(0, 60_000),
        st.lists(st.integers(1, 60_000), max_size=2),
    ),
    max_size=4,
    unique_by=lambda purse: purse.program,
)
NEEDS = st.dictionaries(st.sampled_from(["air", "other"]), st.integers(1, 90_000), min_size=1)


@settings(max_examples=30, deadline=None)
@given(held=HELD, needs=NEEDS)
def test_no_point_of_a_household_is_spent_twice(held: list[Purse], needs: dict[str, int]) -> None:
    funds = Funds(ROUTES, held)
    payments = find_payment(needs, funds)
    totals = {purse.program: purse.pool().points for purse in held}
    sent: Counter[str] = Counter()
    lent: Counter[tuple[str, str]] = Counter()
    for way in (way for ways in (payments or {}).values() for way in ways):
        sent[way.purse.program] += way.points_sent
        lent.update({(way.purse.program, share.member): share.points for share in way.lent})
        assert way.path is None or way.path.is_sensible
    assert all(points <= totals[program] for program, points in sent.items())
    for purse in held:
        shares = {share.member: share.points for share in purse.others}
        borrowed = {member: points for (program, member), points in lent.items() if program == purse.program}
        assert all(points <= shares[member] for member, points in borrowed.items())
        assert sum(borrowed.values()) == max(0, sent[purse.program] - purse.points)
    if payments is not None:
        assert find_lacking(needs, funds) == {} or len(needs) > 1
        left = funds.spend(payments)
        assert left.count_points() == {program: total - sent[program] for program, total in totals.items()}
    else:
        assert find_payment(needs, Funds(ROUTES, [replace(purse, others=()) for purse in held])) is None


@settings(max_examples=30, deadline=None)
@given(points=st.integers(0, 90_000), air=st.integers(1, 60_000), other=st.integers(1, 60_000))
def test_what_is_lacking_and_what_is_held_is_all_that_is_needed(points: int, air: int, other: int) -> None:
    routes = build_network([edge("bank", "air"), edge("bank", "other")])
    lacking = find_lacking({"air": air, "other": other}, Funds(routes, [Purse("bank", points, Decimal(1))]))
    assert sum(lacking.values()) == max(0, air + other - points)


def test_members_points_are_used_only_where_the_person_s_own_do_not_reach() -> None:
    funds = Funds(ROUTES, [Purse("air", 21_000, Decimal(1), others=(Share("Sam", 9_500),))])
    own = find_payment({"air": 21_000}, funds)
    both = find_payment({"air": 30_000}, funds)
    assert own is not None
    assert both is not None
    assert [way.lent for way in own["air"]] == [()]
    assert [way.lent for way in both["air"]] == [(Share("Sam", 9_000),)]
    assert find_leftovers(funds.purses, both, {"air": 30_000}) == {"air": 500}
    assert find_lacking({"air": 31_000}, funds) == {"air": 500}


def test_other_members_book_whole_tickets_from_what_cannot_be_joined() -> None:
    joe = Apart("air", "Joe", 55_000, "no", None, Decimal(1))
    funds = Funds(ROUTES, [Purse("air", 50_000, Decimal(1))], [joe], travellers=2)
    payment = funds.pay({"air": 100_000})
    assert payment is not None
    assert [(way.purse.member, way.points_sent) for way in payment["air"]] == [("", 50_000), ("Joe", 50_000)]
    assert find_leftovers(funds.purses, payment, {"air": 100_000}) == {"air": 0}
    assert funds.spend(payment).count_points() == {"air": 0}
    assert funds.pay({"air": 104_000}) is None  # 105,000 of both, and none of them pays two tickets of 52,000
    assert find_lacking({"air": 104_000}, funds) == {"air": 2_000}
    bank = replace(joe, program="chase", points=52_000)
    both = Funds(ROUTES, [Purse("air", 50_000, Decimal(1))], [bank], travellers=2).pay({"air": 100_000})
    assert both is not None
    assert [(way.purse.member, way.purse.program) for way in both["air"]] == [("", "air"), ("Joe", "chase")]
