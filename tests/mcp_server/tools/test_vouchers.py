"""Vouchers through the gate: the kinds there are; those held, put on bookings, taken off, changed and removed."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from mcp_server.toolkit.context import Call, Caller
from mcp_server.toolkit.registry import TOOLS
from mcp_server.tools.vouchers import apply_voucher_to_booking
from shared import clock
from shared.db.base import transaction
from shared.db.bookings import FlightBooking, HotelBooking
from shared.db.vouchers import Voucher, on_bookings
from shared.errors import Invalid, NotFound
from shared.services.bookings.bookings import cancel, remove
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People

FLIGHT, HOTEL = "ba-amex-companion-voucher", "hilton-free-night-reward"
KINDS = {"companion", "upgrade", "free_night", "credit", "lounge"}


def day(offset: int) -> str:
    return (clock.today() + timedelta(days=offset)).isoformat()


def test_list_voucher_types_shows_all_in_pages_with_their_sources(people: People, use: Use) -> None:
    first = use(people.bob, "list_voucher_types", per_page=30)
    second = use(people.bob, "list_voucher_types", per_page=30, page=2)
    rows = first["voucher_types"] + second["voucher_types"]
    assert first["paging"]["total"] == len({r["voucher_slug"] for r in rows}) == len(rows) == 55
    assert {r["kind"] for r in rows} == KINDS
    assert all(r["source_url"] and r["summary"] for r in rows)
    assert all(r["verified_on"] is None for r in rows if r["unaudited"])


def test_list_voucher_types_of_one_programme_or_one_use(people: People, use: Use) -> None:
    answer = use(people.bob, "list_voucher_types", program="Hyatt", booking_type="hotel")
    assert {r["program"] for r in answer["voucher_types"]} == {"world-of-hyatt"}
    assert len(answer["voucher_types"]) == 5
    flights = use(people.bob, "list_voucher_types", booking_type="flight", per_page=100)["voucher_types"]
    assert len(flights) == 29


def test_list_voucher_types_finds_words_in_any_order(people: People, use: Use) -> None:
    found = use(people.bob, "list_voucher_types", query="Companion AMEX ba")["voucher_types"]
    assert "ba-amex-companion-voucher" in {r["voucher_slug"] for r in found}
    nothing = use(people.bob, "list_voucher_types", query="zorblatt")
    assert (nothing["status"], nothing["voucher_types"], nothing["paging"]["total"]) == ("ok", [], 0)


def test_list_voucher_types_of_an_unknown_programme_names_the_nearest(people: People, use: Use) -> None:
    answer = use(people.bob, "list_voucher_types", program="hiltn honors")
    assert answer["status"] == "not_found"
    assert "hilton-honors" in answer["nearest"]


def booked(who: Caller, what: str, **more: Any) -> int:
    """A booking of that kind, straight into the store."""
    rows: dict[str, Any] = {
        "flight": FlightBooking(
            airline="BA",
            origin="LHR",
            destination="JFK",
            departure_date=clock.today(),
            cabin_class="economy",
            kind="award",
            taxes_currency="USD",
        ),
        "hotel": HotelBooking(
            hotel_code="htl_x",
            hotel_name="House",
            check_in_date=clock.today(),
            check_out_date=clock.today() + timedelta(days=1),
            kind="award",
            cash_rate_currency="USD",
        ),
    }
    row = rows[what]
    for name, value in more.items():
        setattr(row, name, value)
    with transaction(who.account_id) as session:
        session.add(row)
        session.flush()
        return int(row.id)


def _at(end: Any) -> list[Any]:
    return [clock.now()] if end is cancel else []


def on(kind: str, booking_id: int) -> dict[str, Any]:
    return {"booking_type": kind, "booking_id": booking_id}


@pytest.fixture
def add(people: People, use: Use) -> Any:
    """add(expires_on=..., ...) -> the voucher, one of Alice's for flights unless told otherwise."""

    def run(**given: Any) -> dict[str, Any]:
        added = use(people.alice, "add_voucher", **{"voucher_slug": FLIGHT, "again": True, **given})
        made: dict[str, Any] = added["voucher"]
        return made

    return run


def kept(use: Use, who: Caller, **given: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = use(who, "list_my_vouchers", **given)["vouchers"]
    return found


@pytest.mark.spec("s2.4.slug_required", "s2.4.expires_on", "s2.4.voucher_id")
def test_add_voucher_keeps_every_field(add: Any, use: Use, people: People) -> None:
    made = add(expires_on=day(30), reference="AB-1", notes="From the card")
    assert isinstance(made["voucher_id"], int)
    assert (made["voucher_slug"], made["program"], made["state"]) == (FLIGHT, "british-airways-club", "held")
    assert (made["expires_on"], made["days_left"], made["applied_to"]) == (day(30), 30, None)
    assert (made["reference"], made["notes"]) == ("AB-1", "From the card")
    assert kept(use, people.alice) == [made]


def test_add_voucher_without_a_last_day_quotes_the_rule_and_guesses_none(people: People, use: Use) -> None:
    answer = use(people.alice, "add_voucher", voucher_slug=FLIGHT, reference="", notes="")
    fields = [answer["voucher"][n] for n in ("expires_on", "days_left", "reference", "notes")]
    assert fields == [None] * 4
    assert "from issue" in answer["message"]


def test_add_voucher_of_a_kind_that_is_not_listed_names_the_nearest(people: People, use: Use) -> None:
    no = use(people.alice, "add_voucher", voucher_slug="ba-amex-companoin")
    assert (no["status"], no["what"]) == ("not_found", "voucher type")
    assert FLIGHT in no["nearest"]
    assert kept(use, people.alice) == []
    assert use(people.alice, "add_voucher")["errors"][0]["field"] == "voucher_slug"


@pytest.mark.spec("s4.4.add_voucher.paid", "s4.4.apply_voucher.paid")
@pytest.mark.parametrize("name", ["add_voucher", "update_voucher", "apply_voucher_to_booking"])
def test_a_free_account_reads_and_removes_vouchers_but_does_not_change_them(
    people: People, use: Use, name: str
) -> None:
    assert TOOLS[name].description.endswith("Paid.")
    needed = {"voucher_slug": FLIGHT} if name == "add_voucher" else {"voucher_id": 1}
    assert use(people.bob, name, **needed)["status"] == "paywall"
    assert use(people.bob, "list_my_vouchers")["status"] == "ok"
    assert use(people.bob, "delete_voucher", voucher_id=1)["status"] == "not_found"


def test_list_my_vouchers_by_state_and_by_what_ends_soon(add: Any, use: Use, people: People) -> None:
    ended, soon, late, undated = (add(expires_on=d) for d in (day(-1), day(0), day(91), None))
    used = add(expires_on=day(-5))
    with transaction(people.alice.account_id) as session:  # put on a booking while it was good
        session.get_one(Voucher, used["voucher_id"]).flight_booking_id = booked(people.alice, "flight")

    def ids(**given: Any) -> list[int]:
        return [v["voucher_id"] for v in kept(use, people.alice, **given)]

    a, b, c, d, e = (v["voucher_id"] for v in (ended, soon, late, undated, used))
    assert ids() == ids(state="all") == [e, a, b, c, d]
    assert (ids(state="held"), ids(state="expired"), ids(state="applied")) == ([b, c, d], [a], [e])
    assert (ids(expiring_within_days=90), ids(expiring_within_days=91)) == ([b], [b, c])
    assert (ids(page=2, per_page=2), ids(voucher_id=c)) == ([b, c], [c])
    assert use(people.alice, "list_my_vouchers", per_page=2)["paging"]["total"] == 5


def test_list_my_vouchers_of_an_id_that_is_not_ones_own(add: Any, use: Use, people: People) -> None:
    hers = add()["voucher_id"]
    for who, number in ((people.charlie, hers), (people.alice, 10**9)):
        no = use(who, "list_my_vouchers", voucher_id=number)
        assert (no["status"], no["what"], no["id"]) == ("not_found", "voucher", number)


def test_update_voucher_changes_what_is_sent_and_empties_what_is_named(add: Any, use: Use, people: People) -> None:
    made = add(expires_on=day(30), reference="A", notes="N")
    ask = {"voucher_id": made["voucher_id"]}
    done = use(people.alice, "update_voucher", **ask, expires_on=day(60), reference="A")
    assert done["changed"] == ["expires_on"]
    assert done["voucher"] | {"updated_at": ""} == made | {
        "expires_on": day(60),
        "days_left": 60,
        "updated_at": "",
    }
    assert done["voucher"]["updated_at"] > made["updated_at"]
    done = use(people.alice, "update_voucher", **ask, clear=["expires_on", "notes"], reference="")
    assert sorted(done["changed"]) == ["expires_on", "notes", "reference"]
    assert [kept(use, people.alice)[0][n] for n in done["changed"]] == [None] * 3
    again = use(people.alice, "update_voucher", **ask, clear=["notes"])
    assert (again["status"], again["changed"]) == ("ok", [])


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"notes": "x", "clear": ["notes"]}, "clear"),
        ({"clear": ["voucher_slug"]}, "clear[0]"),
        ({"expires_on": "2027-02-30"}, "expires_on"),
        ({"expires_on": ""}, "expires_on"),
        ({"reference": "x" * 121}, "reference"),
        ({"notes": "x" * 4001}, "notes"),
        ({"state": "held"}, "state"),
    ],
)
def test_update_voucher_refuses_bad_input_by_name(add: Any, use: Use, people: People, given: Any, field: str) -> None:
    made = add(notes="N")
    no = use(people.alice, "update_voucher", voucher_id=made["voucher_id"], **given)
    assert (no["status"], no["errors"][0]["field"]) == ("invalid", field)
    assert kept(use, people.alice) == [made]


@pytest.mark.spec("s3.voucher.apply", "s2.4.applies_to_flight_or_hotel", "s4.4.apply_voucher.params")
@pytest.mark.parametrize(("kind", "slug"), [("flight", FLIGHT), ("hotel", HOTEL)])
def test_apply_voucher_to_booking_of_either_kind(add: Any, use: Use, people: People, kind: str, slug: str) -> None:
    number, booking = add(voucher_slug=slug)["voucher_id"], booked(people.alice, kind)
    for _ in range(2):
        done = use(people.alice, "apply_voucher_to_booking", voucher_id=number, **on(kind, booking))
        assert (done["status"], done["applied"], done["replaced"]) == ("ok", True, None)
        assert (done["voucher"]["state"], done["voucher"]["applied_to"]) == ("applied", on(kind, booking))
    assert kept(use, people.alice, state="applied") == [done["voucher"]]


@pytest.mark.spec("s3.voucher.apply_overwrites")
def test_apply_voucher_to_booking_overwrites_and_names_what_it_replaced(add: Any, use: Use, people: People) -> None:
    number, first, second = add()["voucher_id"], booked(people.alice, "flight"), booked(people.alice, "flight")
    use(people.alice, "apply_voucher_to_booking", voucher_id=number, **on("flight", first))
    done = use(people.alice, "apply_voucher_to_booking", voucher_id=number, **on("flight", second))
    assert (done["replaced"], done["voucher"]["applied_to"]) == (on("flight", first), on("flight", second))
    assert "confirm with the user first" in TOOLS["apply_voucher_to_booking"].description


def test_a_voucher_on_one_flight_of_a_booking_is_on_the_others_too(add: Any, use: Use, people: People) -> None:
    ticket, voucher = uuid4(), add()["voucher_id"]
    out, home = (booked(people.alice, "flight", trip_id=ticket) for _ in range(2))
    use(people.alice, "apply_voucher_to_booking", voucher_id=voucher, **on("flight", out))
    answer = use(people.alice, "apply_voucher_to_booking", voucher_id=voucher, **on("flight", home))
    assert (answer["voucher"]["applied_to"], answer["replaced"]) == (on("flight", out), None)
    assert answer["message"].startswith(
        f"Voucher {voucher} is on flight booking {out}, with all flights of its booking."
    )


@pytest.mark.spec("s3.voucher.detach")
def test_apply_voucher_to_booking_without_a_booking_detaches(add: Any, use: Use, people: People) -> None:
    number, booking = add()["voucher_id"], booked(people.alice, "flight")
    use(people.alice, "apply_voucher_to_booking", voucher_id=number, **on("flight", booking))
    done = use(people.alice, "apply_voucher_to_booking", voucher_id=number)
    assert (done["applied"], done["replaced"]) == (False, on("flight", booking))
    assert (done["voucher"]["state"], done["voucher"]["applied_to"]) == ("held", None)
    again = use(people.alice, "apply_voucher_to_booking", voucher_id=number)
    assert (again["status"], again["applied"], again["replaced"]) == ("ok", False, None)


@pytest.mark.spec("s4.4.apply_voucher.params")
def test_apply_voucher_to_booking_refuses_what_does_not_fit(add: Any, use: Use, people: People) -> None:
    flight, hotel = booked(people.alice, "flight"), booked(people.alice, "hotel")
    gone = booked(people.alice, "flight", cancelled_at=clock.now())
    good, ended, lounge = add(), add(expires_on=day(-1)), add(voucher_slug="priority-pass-visit")
    for voucher, target, field in (
        (good, on("hotel", hotel), "booking_type"),
        (lounge, on("hotel", hotel), "booking_type"),
        (good, on("flight", gone), "booking_id"),
        (ended, on("flight", flight), "voucher_id"),
        (good, {"booking_id": flight}, "booking_type"),
        (good, {"booking_type": "train", "booking_id": flight}, "booking_type"),
        (good, {"booking_type": "flight", "booking_id": 0}, "booking_id"),
    ):
        no = use(people.alice, "apply_voucher_to_booking", voucher_id=voucher["voucher_id"], **target)
        assert (no["status"], no["errors"][0]["field"]) == ("invalid", field)
    assert kept(use, people.alice, state="applied") == []


def test_apply_voucher_to_booking_wants_the_kind_of_booking_the_voucher_is_for(
    add: Any, use: Use, people: People
) -> None:
    paid = booked(people.alice, "flight", airline="AS", kind="cash", cash_paid=500, passengers=2)
    no = use(people.alice, "apply_voucher_to_booking", voucher_id=add()["voucher_id"], **on("flight", paid))
    assert (no["status"], no["errors"][0]["field"]) == ("invalid", "booking_id")
    assert "paid in cash, and this voucher is for one paid with points" in no["errors"][0]["problem"]
    fare = add(voucher_slug="alaska-companion-fare")
    done = use(people.alice, "apply_voucher_to_booking", voucher_id=fare["voucher_id"], **on("flight", paid))
    assert done["applied"] is True


def test_apply_voucher_to_booking_refuses_what_breaks_a_limit_and_quotes_what_is_only_prose(
    add: Any, use: Use, people: People
) -> None:
    hyatt = add(voucher_slug="hyatt-free-night-cat-1-4", expires_on=day(30))
    stays = {
        "later": {
            "check_in_date": clock.today() + timedelta(days=60),
            "check_out_date": clock.today() + timedelta(days=61),
        },
        "dear": {"hotel_code": "htl_7pines-resort-ibiza"},
        "other": {"hotel_code": "htl_conrad-tokyo"},
    }
    ids = {name: booked(people.alice, "hotel", **terms) for name, terms in stays.items()}

    def put(voucher: Any, kind: str, booking: int) -> dict[str, Any]:
        return use(people.alice, "apply_voucher_to_booking", voucher_id=voucher["voucher_id"], **on(kind, booking))

    told = {name: put(hyatt, "hotel", number)["message"] for name, number in ids.items()}
    assert "The certificate ends on" in told["later"]
    assert "the stay begins on" in told["later"]
    assert told["dear"] == "The certificate pays category 1 to 4; the hotel is of category 7."
    assert told["other"] == "The certificate is of World of Hyatt; the hotel is of Hilton Honors."
    economy = add(voucher_slug="ba-amex-companion-voucher-economy")
    no = put(economy, "flight", booked(people.alice, "flight", cabin_class="business"))
    assert (no["status"], no["errors"][0]["field"]) == ("invalid", "booking_id")
    assert no["message"] == "The voucher is for economy; the flight is in business."
    cheap = booked(people.alice, "hotel", original_points=40_000)
    assert put(add(voucher_slug="marriott-fna-25k-uk"), "hotel", cheap)["status"] == "invalid"
    done = put(add(voucher_slug="marriott-fna-35k"), "hotel", cheap)
    assert done["applied"]
    assert done["doubts"][-1] in done["message"]
    assert "resort fees payable by the guest" in done["doubts"][-1]


def test_apply_voucher_to_booking_of_somebody_else_is_not_found(add: Any, use: Use, people: People) -> None:
    number = add()["voucher_id"]
    for kind, slug in (("flight", FLIGHT), ("hotel", HOTEL)):
        number = add(voucher_slug=slug)["voucher_id"]
        theirs = booked(people.charlie, kind)
        told = [
            use(people.alice, "apply_voucher_to_booking", voucher_id=number, **on(kind, booking))
            for booking in (theirs, 10**9)
        ]
        assert {(no["status"], no["what"]) for no in told} == {("not_found", f"{kind} booking")}
        assert told[0]["message"].replace(str(theirs), "N") == told[1]["message"].replace(str(10**9), "N")
    no = use(people.charlie, "apply_voucher_to_booking", voucher_id=number, **on("hotel", theirs))
    assert (no["status"], no["what"]) == ("not_found", "voucher")
    assert kept(use, people.alice, state="applied") == []


def test_apply_voucher_to_booking_twice_at_once_ends_on_one_of_them(add: Any, people: People) -> None:
    number = add()["voucher_id"]
    bookings = [booked(people.alice, "flight") for _ in range(4)]

    def put(booking_id: int) -> None:
        call = Call(people.alice, "mcp", clock.now())
        apply_voucher_to_booking(call, number, "flight", booking_id)
        call.finish(commit=True)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(put, bookings)) == [None] * 4
    with transaction() as session:
        row = session.get_one(Voucher, number)
        assert row.flight_booking_id in bookings
        assert row.hotel_booking_id is None


@pytest.mark.parametrize("end", [cancel, remove])
def test_a_booking_that_ends_while_vouchers_are_put_on_it_keeps_none(
    add: Any, use: Use, people: People, end: Any
) -> None:
    """However they meet, nothing waits for ever and no voucher stays on a booking that is over."""
    for _ in range(5):
        booking, numbers = booked(people.alice, "flight"), [add()["voucher_id"] for _ in range(3)]

        def put(number: int | None, booking: int = booking) -> str:
            if number is None:
                with transaction(people.alice.account_id) as session:
                    end(session, session.get_one(FlightBooking, booking, with_for_update=True), *_at(end))
                return "ended"
            asked = {"voucher_id": number, **on("flight", booking)}
            call, done = Call(people.alice, "mcp", clock.now()), False
            try:
                apply_voucher_to_booking(call, **asked)
                done = True
            except (NotFound, Invalid) as no:
                return no.status
            finally:
                call.finish(commit=done)
            return "ok"

        with ThreadPoolExecutor(4) as pool:
            told = list(pool.map(put, [numbers[0], None, *numbers[1:]]))
        assert set(told) <= {"ok", "ended", "not_found", "invalid"}
        assert kept(use, people.alice, state="applied") == []


def test_a_deleted_booking_gives_its_voucher_back(add: Any, use: Use, people: People) -> None:
    number, booking = add()["voucher_id"], booked(people.alice, "flight")
    use(people.alice, "apply_voucher_to_booking", voucher_id=number, **on("flight", booking))
    with transaction(people.alice.account_id) as session:
        session.delete(session.get_one(FlightBooking, booking))
    assert [(v["state"], v["applied_to"]) for v in kept(use, people.alice)] == [("held", None)]


@pytest.mark.spec("s3.voucher.delete_held")
def test_delete_voucher_removes_it_once(add: Any, use: Use, people: People) -> None:
    number = add(reference="R")["voucher_id"]
    assert use(people.charlie, "delete_voucher", voucher_id=number)["status"] == "not_found"
    gone = use(people.alice, "delete_voucher", voucher_id=number)
    assert gone["removed"] == {"voucher_id": number, "voucher_slug": FLIGHT, "reference": "R"}
    assert gone["detached_from"] is None
    assert use(people.alice, "delete_voucher", voucher_id=number)["status"] == "not_found"
    assert kept(use, people.alice) == []


def test_delete_voucher_on_a_booking_names_the_booking(add: Any, use: Use, people: People) -> None:
    number, booking = add()["voucher_id"], booked(people.alice, "flight")
    use(people.alice, "apply_voucher_to_booking", voucher_id=number, **on("flight", booking))
    gone = use(people.alice, "delete_voucher", voucher_id=number)
    assert gone["detached_from"] == on("flight", booking)
    assert f"flight booking {booking}" in gone["message"]


def test_vouchers_on_bookings_are_found_for_many_bookings_at_once(
    add: Any, use: Use, people: People, queries: list[str]
) -> None:
    first, second = booked(people.alice, "flight"), booked(people.alice, "flight")
    numbers = [add()["voucher_id"] for _ in range(3)]
    for number in numbers[:2]:
        use(people.alice, "apply_voucher_to_booking", voucher_id=number, **on("flight", first))
    with transaction(people.alice.account_id) as session:
        queries.clear()
        found = on_bookings(session, "flight", [first, second])
        assert len(queries) == 1
        assert {b: [v.id for v in rows] for b, rows in found.items()} == {first: numbers[:2], second: []}
        assert on_bookings(session, "hotel", [first]) == {first: []}


def test_add_voucher_knows_a_kind_by_its_name_and_names_the_kinds_that_are_meant(people: People, use: Use) -> None:
    whole = use(people.alice, "add_voucher", voucher_slug="Hilton Free Night Reward")
    assert (whole["status"], whole["voucher"]["voucher_slug"]) == ("ok", "hilton-free-night-reward")
    loose = use(people.alice, "add_voucher", voucher_slug="British Airways companion voucher")
    assert (loose["status"], loose["saved"]) == ("candidates", False)
    assert "ba-amex-companion-voucher" in {row["voucher_slug"] for row in loose["candidates"]}
