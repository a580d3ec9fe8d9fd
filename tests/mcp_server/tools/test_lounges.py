"""Lounge visits through the gate: logged, counted, listed, changed and removed, each account's by itself."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.registry import TOOLS
from mcp_server.tools.cards import remove_card
from mcp_server.tools.lounges import update_lounge_visit
from shared import clock
from shared.errors import NotFound
from shared.reference.lounges import price_guests
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People

METHODS = ("card", "status", "ticket", "membership", "paid", "guest", "other")


def day(offset: int) -> str:
    return (clock.today() + timedelta(days=offset)).isoformat()


@pytest.fixture
def log(people: People, use: Use) -> Any:
    """log(...) -> the answer; Alice at Heathrow today unless told otherwise."""

    def run(**given: Any) -> dict[str, Any]:
        visit = {"lounge_name": "No1 Lounge", "airport": "LHR", "visited_on": day(0)}
        return use(people.alice, "log_lounge_visit", **visit | {"again": True} | given)

    return run


@pytest.fixture
def card(people: People, use: Use) -> int:
    return int(use(people.alice, "add_card", card="House card", custom=True)["card"]["card_id"])


def kept(use: Use, people: People, **given: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = use(people.alice, "list_lounge_visits", **given)["visits"]
    return found


@pytest.mark.spec("s2.9.visit_id_integer")
def test_log_lounge_visit_keeps_every_field(log: Any, use: Use, people: People, card: int) -> None:
    given = {
        "lounge_name": "The Centurion Lounge",
        "airport": "lhr",
        "visited_on": day(-3),
        "access_method": "card",
        "card_id": card,
        "program": "Flying Blue",
        "guests": 2,
        "amount_paid": 55.5,
        "currency": "gbp",
        "rating": 4,
        "notes": "Crowded",
    }
    made = log(**given)["visit"]
    assert isinstance(made["visit_id"], int)
    stored = given | {"airport": "LHR", "program": "flying-blue", "currency": "GBP"}
    assert {name: made[name] for name in stored} == stored
    assert kept(use, people) == [made]


def test_log_lounge_visit_with_little_said_guesses_nothing(log: Any) -> None:
    made = log(lounge_name="  No1 Lounge ")["visit"]
    assert (made["lounge_name"], made["access_method"], made["guests"]) == ("No1 Lounge", "other", 0)
    assert (made["currency"], made["card_id"], made["program"]) == ("USD", None, None)
    assert (made["amount_paid"], made["rating"], made["notes"]) == (None, None, None)


def test_log_lounge_visit_counts_this_years_visits(log: Any, card: int) -> None:
    new_year = date(clock.today().year, 1, 1)
    log(visited_on=(new_year - timedelta(days=1)).isoformat(), access_method="paid")
    log(visited_on=new_year.isoformat(), access_method="card", card_id=card)
    made = log(access_method="card", card_id=card, guests=1)
    assert made["visits_this_year"] == {"total": 2, "by_access_method": {"card": 2}, "by_card": {str(card): 2}}
    assert log(access_method="status")["visits_this_year"]["by_access_method"] == {"card": 2, "status": 1}


@pytest.mark.parametrize(
    ("text", "slug"),
    [("Priority Pass", "priority-pass"), ("BA Club", "british-airways-club"), ("Star Gold", "star-gold"), ("", None)],
)
def test_log_lounge_visit_knows_programmes_and_other_ways_into_lounges(log: Any, text: str, slug: str | None) -> None:
    assert log(program=text)["visit"]["program"] == slug


@pytest.mark.parametrize(
    ("airport", "name", "listed"),
    [
        ("LHR", "No1 Lounge", ["No1 Lounge Heathrow"]),
        ("LHR", "plaza premium lounge", ["Plaza Premium Lounge"] * 3),
        ("HND", "TIAT Lounge", ["TIAT Lounge"]),
        ("LHR", "The Centurion Lounge", []),
    ],
)
def test_log_lounge_visit_names_lounges_of_that_name_on_a_networks_list(
    log: Any, airport: str, name: str, listed: list[str]
) -> None:
    answer = log(airport=airport, lounge_name=name)
    assert [row["name"] for row in answer["listed_lounges"]] == listed
    assert all(row["networks"] == ["priority-pass"] for row in answer["listed_lounges"])
    assert {row["as_of"] for row in answer["listed_lounges"]} <= {"2026-02-18"}
    assert ("Not checked" in answer["message"]) is bool(listed)


def test_log_lounge_visit_says_what_it_does_not_know(log: Any, use: Use, people: People) -> None:
    no = log(program="Zorblatt Lounges")
    assert (no["status"], no["what"]) == ("not_found", "programme")
    assert log(airport="XQZ")["what"] == "airport"
    assert log(program="avios")["status"] == "candidates"
    city = log(airport="LON")
    assert (city["status"], city["errors"][0]["field"]) == ("invalid", "airport")
    assert "LGW" in city["message"]
    assert kept(use, people) == []


def test_a_visit_is_tomorrow_at_the_latest(log: Any, use: Use, people: People) -> None:
    no = log(visited_on=day(2))
    assert (no["status"], no["errors"][0]["field"]) == ("invalid", "visited_on")
    assert kept(use, people) == []
    assert log(visited_on=day(1))["status"] == "ok"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"lounge_name": "  "}, "lounge_name"),
        ({"lounge_name": "x" * 121}, "lounge_name"),
        ({"visited_on": ""}, "visited_on"),
        ({"access_method": "luck"}, "access_method"),
        ({"guests": 21}, "guests"),
        ({"guests": -1}, "guests"),
        ({"amount_paid": -1}, "amount_paid"),
        ({"amount_paid": ""}, "amount_paid"),
        ({"rating": 6}, "rating"),
        ({"rating": 0}, "rating"),
        ({"notes": "x" * 4001}, "notes"),
        ({"program": "x" * 201}, "program"),
    ],
)
def test_lounge_tools_refuse_bad_input_by_name(log: Any, use: Use, people: People, given: Any, field: str) -> None:
    no = log(**given)
    assert (no["status"], no["errors"][0]["field"]) == ("invalid", field)
    assert kept(use, people) == []
    made = log()["visit"]
    no = use(people.alice, "update_lounge_visit", visit_id=made["visit_id"], **given)
    assert (no["status"], no["errors"][0]["field"]) == ("invalid", field)
    assert kept(use, people) == [made]


def test_list_lounge_visits_filters_and_counts_all_that_fit(log: Any, use: Use, people: People, card: int) -> None:
    a = log(visited_on=day(-20), access_method="card", card_id=card, guests=2)["visit"]["visit_id"]
    b = log(visited_on=day(-10), access_method="paid", airport="JFK", guests=1)["visit"]["visit_id"]
    c = log(visited_on=day(-10), access_method="card")["visit"]["visit_id"]

    def ids(**given: Any) -> list[int]:
        return [v["visit_id"] for v in kept(use, people, **given)]

    assert ids() == [c, b, a]
    assert (ids(from_date=day(-10)), ids(to_date=day(-11))) == ([c, b], [a])
    assert (ids(airport="jfk"), ids(card_id=card), ids(visit_id=b)) == ([b], [a], [b])
    assert (ids(page=2, per_page=2), ids(airport="SYD")) == ([a], [])
    answer = use(people.alice, "list_lounge_visits", per_page=1)
    assert answer["totals"] == {
        "total": 3,
        "by_access_method": {"card": 2, "paid": 1},
        "by_card": {str(card): 1},
        "guests": 3,
    }
    assert answer["paging"] == {"page": 1, "per_page": 1, "total": 3, "has_more": True}
    assert use(people.alice, "list_lounge_visits", airport="JFK")["totals"]["guests"] == 1
    none = use(people.charlie, "list_lounge_visits")["totals"]
    assert none == {"total": 0, "by_access_method": {}, "by_card": {}, "guests": 0}
    assert use(people.alice, "list_lounge_visits", from_date=day(0), to_date=day(-1))["status"] == "invalid"


def test_update_lounge_visit_changes_what_is_sent_and_empties_what_is_named(
    log: Any, use: Use, people: People, card: int
) -> None:
    made = log(card_id=card, program="flying-blue", amount_paid=0, rating=5, notes="N", guests=3)["visit"]
    ask = {"visit_id": made["visit_id"]}
    done = use(people.alice, "update_lounge_visit", **ask, guests=0, airport="jfk", rating=5, program="Priority Pass")
    assert sorted(done["changed"]) == ["airport", "guests", "program"]
    assert done["visit"] == made | {"guests": 0, "airport": "JFK", "program": "priority-pass"}
    names = ["card_id", "program", "amount_paid", "rating", "notes"]
    done = use(people.alice, "update_lounge_visit", **ask, clear=names)
    assert done["changed"] == names
    assert [kept(use, people)[0][n] for n in names] == [None] * 5
    again = use(people.alice, "update_lounge_visit", **ask, clear=names)
    assert (again["status"], again["changed"]) == ("ok", [])
    both = use(people.alice, "update_lounge_visit", **ask, rating=1, clear=["rating"])
    assert (both["status"], both["errors"][0]["field"]) == ("invalid", "clear")


def test_lounge_visits_name_own_cards_and_own_visits_only(log: Any, use: Use, people: People, card: int) -> None:
    mine = log(card_id=card)["visit"]
    theirs = use(people.charlie, "add_card", card="Theirs", custom=True)["card"]["card_id"]
    for number in (theirs, 10**9):
        assert (log(card_id=number)["what"], log(card_id=number)["id"]) == ("card", number)
        no = use(people.alice, "update_lounge_visit", visit_id=mine["visit_id"], card_id=number)
        assert (no["status"], no["what"]) == ("not_found", "card")
        assert use(people.alice, "list_lounge_visits", card_id=number)["status"] == "not_found"
    for tool in ("list_lounge_visits", "update_lounge_visit", "delete_lounge_visit"):
        no = use(people.charlie, tool, visit_id=mine["visit_id"])
        assert (no["status"], no["what"]) == ("not_found", "lounge visit")
    assert kept(use, people) == [mine]


@pytest.mark.spec("s4.4.delete_lounge_visit.paid")
def test_delete_lounge_visit_removes_it_once(log: Any, use: Use, people: People) -> None:
    visit = log()["visit"]
    gone = use(people.alice, "delete_lounge_visit", visit_id=visit["visit_id"])
    assert gone["removed"] == {name: visit[name] for name in ("visit_id", "lounge_name", "visited_on")}
    assert use(people.alice, "delete_lounge_visit", visit_id=visit["visit_id"])["status"] == "not_found"
    assert kept(use, people) == []
    assert use(people.alice, "delete_lounge_visit")["errors"][0]["field"] == "visit_id"


@pytest.mark.spec("s4.4.delete_lounge_visit.paid")
@pytest.mark.parametrize("name", ["log_lounge_visit", "update_lounge_visit", "delete_lounge_visit"])
def test_a_free_account_reads_visits_but_does_not_change_them(people: People, use: Use, name: str) -> None:
    assert TOOLS[name].description.endswith("Paid.")
    assert use(people.bob, name)["status"] == "paywall"
    assert use(people.bob, "list_lounge_visits")["status"] == "ok"


def test_removing_a_card_empties_the_link_of_its_visits_and_keeps_their_text(
    log: Any, use: Use, people: People, card: int
) -> None:
    visit = log(card_id=card, access_method="card", notes="With the card")["visit"]
    use(people.alice, "remove_card", card_id=card)
    assert kept(use, people) == [visit | {"card_id": None}]


def test_a_card_removed_while_a_visit_is_put_on_it_leaves_no_link_behind(
    log: Any, use: Use, people: People, card: int
) -> None:
    visits = [log(card_id=card)["visit"]["visit_id"] for _ in range(3)]

    def run(visit_id: int | None) -> str:
        call = Call(people.alice, "mcp", clock.now())
        done = False
        try:
            if visit_id is None:
                remove_card(call, card)
            else:
                update_lounge_visit(call, visit_id, card_id=card, notes="x")
            done = True
        except NotFound:
            return "not_found"
        finally:
            call.finish(commit=done)
        return "ok"

    with ThreadPoolExecutor(4) as pool:
        ends = list(pool.map(run, [*visits, None]))
    assert ends[-1] == "ok"
    assert [v["card_id"] for v in kept(use, people)] == [None] * 3


def _entry(use: Use, people: People, guests: int, **given: Any) -> dict[str, Any]:
    return use(people.alice, "list_lounge_visits", guests=guests, **given)


def test_list_lounge_visits_says_which_lounges_two_guests_come_into(use: Use, people: People) -> None:
    assert _entry(use, people, 2)["message"].startswith("We know no lounge rule of your cards and statuses.")
    sapphire = use(people.alice, "add_card", card="us-chase-sapphire-reserve")["card"]["card_id"]
    use(people.alice, "add_card", card="us-amex-platinum")
    answer = _entry(use, people, 2, airport="JFK")
    assert answer["message"].startswith("Chase Sapphire Lounges with Chase Sapphire Reserve: 2 guests free.")
    assert "Priority Pass lists 10 lounges at JFK." in answer["message"]
    centurion = next(r for r in answer["entry"] if r["lounges"] == "Centurion Lounges")
    assert (centurion["guests_cost"], centurion["currency"], centurion["guests_on"]) == (100.0, "USD", "same_flight")
    assert (centurion["hours_before"], centurion["listed_here"]) == (3, None)
    alone = _entry(use, people, 2, card_id=sapphire)["entry"]
    assert {r["card_or_status"] for r in alone} == {"Chase Sapphire Reserve"}
    assert "entry" in use(people.alice, "list_lounge_visits")
    assert not use(people.alice, "list_lounge_visits")["entry"]


def test_list_lounge_visits_knows_the_guests_of_a_status(use: Use, people: People) -> None:
    use(people.alice, "set_loyalty_status", program="united-mileageplus", tier="Premier Gold")
    one, two = _entry(use, people, 1), _entry(use, people, 2)
    assert one["message"].startswith(
        "Star Alliance Gold lounges with Star Alliance Gold: 1 guest free, on the same flight."
    )
    assert two["message"].startswith("Star Alliance Gold lounges with Star Alliance Gold: 1 guest at most")
    assert (two["entry"][0]["guests_cost"], two["entry"][0]["confidence"]) == (None, "high")


@given(
    free=st.none() | st.integers(0, 4),
    most=st.none() | st.integers(0, 6),
    fee=st.none() | st.integers(1, 80),
    guests=st.integers(0, 20),
)
@settings(max_examples=30, deadline=None)
def test_no_price_of_guests_is_made_up(free: int | None, most: int | None, fee: int | None, guests: int) -> None:
    row = SimpleNamespace(guests_free=free, guests_most=most, guest_fee=None if fee is None else Decimal(fee))
    price = price_guests(row, guests)  # type: ignore[arg-type]
    if price is None:
        assert guests
        assert free is None
        assert fee is None
        return
    assert price.left_out == (max(0, guests - most) if guests and most is not None else 0)
    assert price.paying <= guests - price.left_out
    assert price.amount == (price.paying * fee if fee is not None else None if price.paying else 0)
