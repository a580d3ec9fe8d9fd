"""Voucher kinds through the gate: found by words, programme and what they apply to."""

from tests.people import People
from tests.tools.conftest import Use

KINDS = {"companion", "upgrade", "free_night", "credit", "lounge"}


def test_list_voucher_types_shows_all_in_pages_with_their_sources(people: People, use: Use) -> None:
    first = use(people.bob, "list_voucher_types", per_page=30)
    second = use(people.bob, "list_voucher_types", per_page=30, page=2)
    rows = first["voucher_types"] + second["voucher_types"]
    assert first["paging"]["total"] == len({r["voucher_slug"] for r in rows}) == len(rows) == 53
    assert {r["kind"] for r in rows} == KINDS
    assert all(r["source_url"] and r["unaudited"] and r["summary"] for r in rows)


def test_list_voucher_types_of_one_programme_or_one_use(people: People, use: Use) -> None:
    found = use(people.bob, "list_voucher_types", program="Hyatt", booking_type="hotel")
    assert {r["program"] for r in found["voucher_types"]} == {"world-of-hyatt"}
    assert len(found["voucher_types"]) == 5
    flights = use(people.bob, "list_voucher_types", booking_type="flight", per_page=100)["voucher_types"]
    assert len(flights) == 29


def test_list_voucher_types_finds_words_in_any_order(people: People, use: Use) -> None:
    found = use(people.bob, "list_voucher_types", query="Companion AMEX ba")["voucher_types"]
    assert "ba-amex-companion-voucher" in {r["voucher_slug"] for r in found}
    nothing = use(people.bob, "list_voucher_types", query="zorblatt")
    assert (nothing["status"], nothing["voucher_types"], nothing["paging"]["total"]) == ("ok", [], 0)


def test_list_voucher_types_of_an_unknown_programme_names_the_nearest(people: People, use: Use) -> None:
    found = use(people.bob, "list_voucher_types", program="hiltn honors")
    assert found["status"] == "not_found"
    assert "hilton-honors" in found["nearest"]
