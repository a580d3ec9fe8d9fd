"""Hotels through the gate: found by place, described, and priced by night and by stay, over sources a test makes."""

from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from mcp_server.toolkit.registry import TOOLS
from shared import clock
from shared.domain.dates import format_short_weekday
from shared.providers.contract import StayOffer, StaysQuestion, Unanswered
from shared.reference import hotel_awards, hotels
from shared.reference.load import reference
from shared.settings import settings
from tests.mcp_server.tools.conftest import Use
from tests.support.dates import evaluate, iso_days_ahead
from tests.support.fake_seats import WithSources, lodging, stay
from tests.support.fake_seats import live as live
from tests.support.fake_seats import with_sources as with_sources
from tests.support.people import People

TOKYO, MARRIOTT = "htl_conrad-tokyo", "htl_the-tokyo-edition-toranomon"


def day(offset: int) -> date:
    return clock.today() + timedelta(days=offset)


def stay_dates(first: int, last: int) -> dict[str, Any]:
    """Arguments for `evaluate`: the days are taken from the clock when the test runs."""
    return {"check_in_date": partial(iso_days_ahead, first), "check_out_date": partial(iso_days_ahead, last)}


def dates(first: int = 20, last: int = 23) -> dict[str, str]:
    return {"check_in_date": day(first).isoformat(), "check_out_date": day(last).isoformat()}


def answering(*offers: StayOffer) -> Any:
    """Of these offers those a question is about."""

    def act(asked: StaysQuestion) -> tuple[StayOffer, ...]:
        codes = {h.hotel_code for h in asked.hotels}
        return tuple(
            o
            for o in offers
            if o.hotel_code in codes
            and asked.earliest <= o.check_in <= asked.latest
            and (o.check_out - o.check_in).days == asked.nights
        )

    return act


def silent(_asked: StaysQuestion) -> Any:
    raise Unanswered("down", "timeout")


def test_get_hotel_without_dates_is_told_from_facts_alone(people: People, use: Use, with_sources: WithSources) -> None:
    with_sources()
    answer = use(people.bob, "get_hotel", hotel_id="TYOCICI")
    assert (answer["status"], answer["rates"], answer["freshness"]["mode"]) == ("ok", None, "static")
    found = hotels.find_hotel(reference(), TOKYO)
    assert answer["hotel"] == {
        "hotel_id": hotels.number(found),
        "name": "Conrad Tokyo",
        "chain": "hilton",
        "brand": "Conrad",
        "address": None,
        "city": "Tokyo",
        "country": "JP",
        "latitude": 35.663,
        "longitude": 139.7615,
        "property_codes": ["TYOCICI"],
    }
    assert (answer["award"]["hotel_code"], answer["award"]["dynamic"], answer["award"]["levels"]) == (TOKYO, True, [])


def test_get_hotel_shows_a_category_with_the_levels_that_are_published(people: People, use: Use) -> None:
    award = use(people.bob, "get_hotel", hotel_id="park-hyatt-tokyo")["award"]
    assert (award["category"], award["chart_from"], award["dynamic"]) == (8, "2026-05", False)
    assert {row["level"]: row["points"] for row in award["levels"]} == {
        "lowest": 35_000,
        "low": 45_000,
        "moderate": 55_000,
        "upper": 65_000,
        "top": 75_000,
    }
    assert award["source_url"].startswith("https://")


@pytest.mark.parametrize(
    ("name", "category", "lowest", "moderate", "changed"),
    [
        # as they are since 20 May 2026; before they were 2, 5, 6 and 3
        ("Caption by Hyatt Namba Osaka", 3, 8_000, 15_000, True),
        ("Hyatt House Tokyo Shibuya", 6, 20_000, 30_000, True),
        ("Hyatt Place Santa Barbara", 5, 15_000, 25_000, True),
        ("Grand Hyatt Incheon", 4, 12_000, 20_000, False),
        ("Hyatt Regency Lisbon", 5, 15_000, 25_000, True),
    ],
)
def test_get_hotel_knows_the_categories_of_may_2026(
    people: People, use: Use, name: str, category: int, lowest: int, moderate: int, changed: bool
) -> None:
    answer = use(people.bob, "get_hotel", hotel_id=name)
    award = answer["award"]
    points = {row["level"]: row["points"] for row in award["levels"]}
    assert (award["category"], points["lowest"], points["moderate"]) == (category, lowest, moderate)
    assert award["audited_on"] in ("2026-04-26", "2026-04-27")  # the day of the page
    assert award["unaudited"] is False
    since = " since 20 May 2026" if changed else ""
    sentence = f"Award category {category}{since}: {lowest:,} to {points['top']:,} points a night, by level."
    assert sentence in answer["message"]


def test_get_hotel_says_when_nobody_checked_a_category(people: People, use: Use) -> None:
    answer = use(people.bob, "get_hotel", hotel_id="Grand Hyatt Berlin")
    assert (answer["award"]["category"], answer["award"]["audited_on"]) == (4, None)
    assert "not checked" in answer["message"].lower()


def test_get_hotel_gives_the_letter_of_an_all_inclusive_resort_without_inventing_its_points(
    people: People, use: Use
) -> None:
    answer = use(people.bob, "get_hotel", hotel_id="AluaSoul Ibiza")
    assert (answer["award"]["category"], answer["award"]["levels"]) == ("B", [])
    assert "the points of their chart are not known" in answer["message"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Wyndham New Yorker", "Award nights: a bedroom costs 7,500, 15,000 or 30,000 points a night, by hotel."),
        ("Novotel London Tower Bridge", "Award nights: 2,000 points pay EUR 40.00 of a bill."),
    ],
)
def test_get_hotel_of_a_programme_with_fixed_values_gives_them(people: People, use: Use, name: str, words: str) -> None:
    answer = use(people.bob, "get_hotel", hotel_id=name)
    assert words in answer["message"]
    assert (answer["award"]["unaudited"], answer["award"]["category"]) == (False, None)


@pytest.mark.parametrize(("booked_on", "levels"), [("2026-05-19", "off_peak"), ("2026-05-20", "lowest")])
def test_the_day_of_booking_decides_which_chart_prices_a_night(booked_on: str, levels: str) -> None:
    park = hotels.find_hotel(reference(), "park-hyatt-tokyo")
    award = hotel_awards.build_award(reference(), park, date.fromisoformat(booked_on))
    assert (award.prices[0].level, award.prices[0].points) == (levels, 35_000)
    assert award.prices[-1].points == (45_000 if levels == "off_peak" else 75_000)


def test_the_day_of_booking_decides_which_category_a_hotel_has() -> None:
    shibuya = hotels.find_hotel(reference(), "Hyatt House Tokyo Shibuya")
    rows = [hotel_awards.find_category(reference(), shibuya, date(2026, 5, day)) for day in (19, 20)]
    assert [row.category for row in rows if row] == ["5", "6"]


def test_search_hotels_asks_for_a_city_where_a_place_has_too_many(people: People, use: Use) -> None:
    answer = use(people.alice, "search_hotels", destination="United States", **dates())
    assert answer["status"] == "candidates"
    assert "New York, US" in answer["candidates"]


def test_get_hotel_gives_award_codes_that_add_hotel_booking_takes(people: People, use: Use) -> None:
    code = use(people.alice, "get_hotel", hotel_id="Conrad Tokyo")["award"]["hotel_code"]
    assert use(people.alice, "add_hotel_booking", hotel_id=code, **dates())["status"] == "ok"
    assert use(people.alice, "get_hotel", hotel_id="Conrad")["status"] == "candidates"
    assert use(people.alice, "get_hotel", hotel_id="Conrad Tokio")["nearest"][0] == "Conrad Tokyo"


def test_get_hotel_with_dates_prices_the_stay_exactly(people: People, use: Use, with_sources: WithSources) -> None:
    offer = stay(TOKYO, day(20), 3, points=190_000, cash=Decimal("1234.56"), room_type="King")
    with_sources(lodging("inns", answering(offer)))
    answer = use(people.bob, "get_hotel", hotel_id=TOKYO, **dates())
    assert answer["rates"] == {
        "nights": 3,
        "points_total": 190_000,
        "cash_total": 1234.56,
        "currency": "USD",
        "cents_per_point": 0.65,
        "free_night_rule_applied": None,
        "room_type": "King",
        "source": "inns",
        "mode": "live",
    }
    assert (answer["freshness"]["mode"], answer["freshness"]["source"]) == ("live", "inns")


def test_get_hotel_takes_off_the_night_that_is_free_for_everybody(
    people: People, use: Use, with_sources: WithSources
) -> None:
    nights = [stay(MARRIOTT, day(20 + n), 1, points=50_000 + 1000 * n) for n in range(5)]
    hilton = [stay(TOKYO, day(20 + n), 1, points=50_000) for n in range(5)]
    with_sources(lodging("inns", answering(*nights, *hilton)))
    rates = use(people.bob, "get_hotel", hotel_id=MARRIOTT, **dates(20, 25))["rates"]
    assert rates["points_total"] == 210_000
    assert rates["free_night_rule_applied"] == "fifth night free on award stays booked with points"
    # Hilton's is for some tiers only, so that its price is neither asked by night nor made smaller.
    other = use(people.bob, "get_hotel_availability", hotel_id=TOKYO, **dates(20, 25))
    assert (other["stay"]["points_total"], other["stay"]["free_night_rule_applied"]) == (250_000, None)
    assert "Not taken off, since no such status of yours is saved here: fifth night free for" in other["message"]
    use(people.bob, "set_loyalty_status", program="hilton-honors", tier="Gold")
    member = use(people.bob, "get_hotel_availability", hotel_id=TOKYO, **dates(20, 25))
    assert member["stay"]["points_total"] == 200_000
    with_sources(lodging("inns", answering(*hilton, stay(TOKYO, day(20), 5, points=250_000))))
    (found,) = use(people.bob, "search_hotels", destination="Tokyo", chains=["hilton"], sort="points", **dates(20, 25))[
        "hotels"
    ][:1]
    assert (found["points_per_night"], found["free_night_rule_applied"][:17]) == (40_000, "fifth night free ")


def test_get_hotel_says_no_data_where_sources_know_nothing_and_unavailable_where_none_answers(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(lodging("inns", answering()))
    answer = use(people.bob, "get_hotel", hotel_id=TOKYO, **dates())
    assert (answer["rates"]["points_total"], answer["rates"]["cash_total"]) == ("no_data", "no_data")
    with_sources(lodging("rooms", silent))
    answer = use(people.bob, "get_hotel", hotel_id=TOKYO, **dates())
    assert (answer["status"], answer["backends"][0]["reason"]) == ("backend_unavailable", "down")
    assert "nothing about prices or free rooms" in answer["message"]
    with_sources()
    answer = use(people.bob, "get_hotel", hotel_id=TOKYO, **dates())
    assert (answer["status"], answer["backends"][0]["reason"]) == ("backend_unavailable", "not_configured")


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"check_in_date": lambda: iso_days_ahead(3)}, "check_out_date"),
        ({"check_out_date": lambda: iso_days_ahead(3)}, "check_in_date"),
        (stay_dates(3, 3), "check_out_date"),
        (stay_dates(-2, 3), "check_in_date"),
        (stay_dates(3, 40), "check_out_date"),
        ({"check_in_date": "9999-12-30", "check_out_date": "9999-12-31"}, "check_in_date"),
    ],
)
def test_dates_that_are_no_stay_are_refused(people: People, use: Use, given: dict[str, str], field: str) -> None:
    for tool in ("get_hotel", "get_hotel_availability"):
        refused = use(people.bob, tool, hotel_id=TOKYO, **evaluate(given))
        assert (refused["status"], refused["errors"][0]["field"]) == ("invalid", field)


def test_get_hotel_availability_tells_a_full_night_from_one_nobody_knows(
    people: People, use: Use, with_sources: WithSources
) -> None:
    offers = [
        stay(TOKYO, day(20), 1, points=60_000, cash=Decimal(500)),
        stay(TOKYO, day(21), 1, available=False),
        stay(TOKYO, day(23), 1, cash=Decimal(450)),
    ]
    with_sources(lodging("inns", answering(*offers)))
    answer = use(people.bob, "get_hotel_availability", hotel_id=TOKYO, **dates(20, 24))
    assert [n["state"] for n in answer["nights"]] == ["available", "none", "unknown", "available"]
    assert [n["points"] for n in answer["nights"]] == [60_000, None, None, None]
    assert [n["cents_per_point"] for n in answer["nights"]] == [0.83, None, None, None]
    assert answer["stay"]["points_total"] == "no_data"
    assert "For 1 night no source has an answer" in answer["message"]


def test_get_hotel_availability_shows_the_nights_of_a_month_that_are_to_come(people: People, use: Use) -> None:
    later = day(45).replace(day=1)
    answer = use(people.alice, "get_hotel_availability", hotel_id=TOKYO, month=f"{later:%Y-%m}")
    days = [n["date"] for n in answer["nights"]]
    assert (days[0], answer["stay"]) == (later.isoformat(), None)
    assert {d[:7] for d in days} == {f"{later:%Y-%m}"}
    assert len(days) >= 28
    now = use(people.alice, "get_hotel_availability", hotel_id="htl_conrad-new-york-downtown", month=f"{day(0):%Y-%m}")
    assert now["nights"][0]["date"] in (day(0).isoformat(), day(-1).isoformat())
    for month in ("2020-01", "9999-12"):
        refused = use(people.alice, "get_hotel_availability", hotel_id=TOKYO, month=month)
        assert (refused["status"], refused["errors"][0]["field"]) == ("invalid", "month")


@pytest.mark.parametrize("given", [{}, stay_dates(20, 23) | {"month": "2031-05"}])
def test_get_hotel_availability_wants_both_dates_or_a_month(people: People, use: Use, given: dict[str, str]) -> None:
    assert use(people.bob, "get_hotel_availability", hotel_id=TOKYO, **evaluate(given))["status"] == "invalid"


def test_get_hotel_availability_where_a_source_is_silent_is_partial(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(lodging("inns", answering(stay(TOKYO, day(20), 1, points=9))), lodging("rooms", silent))
    answer = use(people.bob, "get_hotel_availability", hotel_id=TOKYO, **dates(20, 21))
    assert (answer["status"], answer["nights"][0]["points"]) == ("partial", 9)
    assert "No answer from rooms (down)" in answer["message"]
    answer = use(people.bob, "get_hotel_availability", hotel_id=TOKYO, **dates(30, 31))
    assert (answer["status"], answer["nights"][0]["state"]) == ("partial", "unknown")
    assert "For 1 night no source has an answer" in answer["message"]
    assert "No answer from rooms (down)" in answer["message"]


def test_hotels_nobody_prices_are_unknown_while_a_source_is_silent_and_no_data_when_all_answered(
    people: People, use: Use, with_sources: WithSources
) -> None:
    with_sources(lodging("inns", answering()), lodging("rooms", silent))
    answer = use(people.alice, "search_hotels", destination="Tokyo", **dates())
    assert (answer["status"], answer["coverage"]["failed"][0]["name"]) == ("partial", "rooms")
    assert {h["nights_available"] for h in answer["hotels"]} == {None}
    assert "no source has an answer" in answer["message"]
    with_sources(lodging("inns", answering()))
    answer = use(people.alice, "search_hotels", destination="Tokyo", **dates())
    assert (answer["status"], answer["missing"]) == ("no_data", ["hotel prices"])
    nights = use(people.alice, "get_hotel_availability", hotel_id=TOKYO, **dates())
    assert nights["message"].count("inns") == 1


def test_search_hotels_asks_once_for_all_hotels_of_a_place(people: People, use: Use, with_sources: WithSources) -> None:
    asked: list[StaysQuestion] = []
    offers = [
        stay(TOKYO, day(20), 3, points=180_000, cash=Decimal(900)),
        stay("htl_park-hyatt-tokyo", day(20), 3, points=100_000, cash=Decimal(2000)),
        stay("htl_andaz-tokyo-toranomon-hills", day(20), 3, cash=Decimal(1000)),
        stay(MARRIOTT, day(20), 3, available=False),
    ]

    def act(question: StaysQuestion) -> Any:
        asked.append(question)
        return answering(*offers)(question)

    with_sources(lodging("inns", act))
    answer = use(people.alice, "search_hotels", destination="Tokyo", per_page=100, **dates(), guests=1)
    (question,) = asked
    assert (len(question.hotels), question.guests, question.nights) == (answer["paging"]["total"], 1, 3)
    first, second = answer["hotels"][:2]
    assert (first["hotel_code"], first["points_per_night"], first["cash_per_night"]) == (
        "htl_park-hyatt-tokyo", 33_333, 666.67,
    )  # fmt: skip
    assert (first["cents_per_point"], second["cents_per_point"], second["nights_available"]) == (2.0, 0.5, 3)
    by_code = {h["hotel_code"]: h for h in answer["hotels"]}
    assert (by_code[MARRIOTT]["nights_available"], by_code[MARRIOTT]["points_per_night"]) == (0, "no_data")
    unknown = [h for h in answer["hotels"] if h["nights_available"] is None]
    assert len(unknown) == answer["paging"]["total"] - 4
    assert answer["coverage"]["answered"] == ["inns"]


@pytest.mark.parametrize(
    ("sort", "order"),
    [("points", ["park", "conrad", "andaz"]), ("cash", ["conrad", "andaz", "park"]), ("name", ["andaz", "conrad"])],
)
def test_search_hotels_sorts_pages_and_caps(
    people: People, use: Use, with_sources: WithSources, sort: str, order: list[str]
) -> None:
    offers = [
        stay(TOKYO, day(20), 3, points=180_000, cash=Decimal(900)),
        stay("htl_park-hyatt-tokyo", day(20), 3, points=100_000, cash=Decimal(2000)),
        stay("htl_andaz-tokyo-toranomon-hills", day(20), 3, cash=Decimal(1000)),
    ]
    with_sources(lodging("inns", answering(*offers)))
    where = {"destination": "NRT", "sort": sort} | dates()
    answer = use(people.alice, "search_hotels", **where, chains=["hyatt", "Hilton Honors"])
    assert {h["chain"] for h in answer["hotels"]} == {"hyatt", "hilton"}
    named = [h["hotel_code"].removeprefix("htl_").split("-")[0] for h in answer["hotels"]]
    assert [n for n in named if n in order][: len(order)] == order
    one = use(people.alice, "search_hotels", **where, per_page=1, page=2)
    assert (len(one["hotels"]), one["paging"]["has_more"]) == (1, True)
    capped = use(people.alice, "search_hotels", **where, max_points_per_night=40_000)
    assert [h["hotel_code"] for h in capped["hotels"]] == ["htl_park-hyatt-tokyo"]


def test_search_hotels_knows_a_place_without_hotels_from_one_it_does_not_know(people: People, use: Use) -> None:
    assert use(people.alice, "search_hotels", destination="Reykjavik", **dates())["status"] == "no_data"
    assert use(people.alice, "search_hotels", destination="Tokyo", **dates(), chains=["wyndham"])["status"] == "no_data"
    assert use(people.alice, "search_hotels", destination="Nowhereville", **dates())["status"] == "not_found"
    assert (
        use(people.alice, "search_hotels", destination="Tokyo", **dates(), chains=["nobody"])["status"] == "not_found"
    )


@pytest.mark.spec("s8.free_five_searches")
def test_search_hotels_counts_against_the_searches_of_a_day_and_get_hotel_does_not(people: People, use: Use) -> None:
    for _ in range(2):
        use(people.bob, "get_hotel", hotel_id=TOKYO, **dates())
    for _ in range(5):
        assert use(people.bob, "search_hotels", destination="Tokyo", **dates())["status"] == "ok"
    assert use(people.bob, "get_hotel_availability", hotel_id=TOKYO, **dates())["status"] == "limit_reached"
    assert use(people.bob, "get_hotel", hotel_id=TOKYO, **dates())["status"] == "ok"


def test_invented_rows_say_so_themselves(people: People, use: Use) -> None:
    answer = use(people.alice, "search_hotels", destination="Tokyo", **dates())
    shown = use(people.alice, "get_hotel_availability", hotel_id=TOKYO, **dates())
    for row in (*answer["hotels"], *shown["nights"], shown["stay"]):
        assert (row["source"], row["mode"], row["synthetic"]) == ("sandbox", "sandbox", True)
        assert row["generated_at"]
    assert settings().data_mode == "sandbox"
    assert TOOLS["search_hotels"].description.endswith("Free.")


def test_prices_are_asked_in_the_money_of_the_profile(people: People, use: Use, with_sources: WithSources) -> None:
    asked: list[StaysQuestion] = []

    def act(question: StaysQuestion) -> Any:
        asked.append(question)
        return (stay(TOKYO, day(20), 3, cash=Decimal(700), currency=question.currency),)

    with_sources(lodging("inns", act))
    use(people.alice, "update_profile", currency="eur")
    answer = use(people.alice, "get_hotel", hotel_id=TOKYO, **dates())
    assert (answer["rates"]["cash_total"], answer["rates"]["currency"]) == (700, "EUR")
    assert [q.currency for q in asked] == ["EUR"]


def test_search_hotels_and_get_hotel_say_which_certificate_of_mine_pays_a_night(people: People, use: Use) -> None:
    use(people.alice, "add_voucher", voucher_slug="hyatt-free-night-cat-1-4", expires_on=str(day(100)))
    use(people.alice, "add_voucher", voucher_slug="marriott-fna-35k")
    asked = dates(60, 62)
    answer = use(people.alice, "search_hotels", destination="Rome", **asked)
    paid = {h["name"]: [c["name"] for c in h["certificates"]] for h in answer["hotels"]}
    assert paid["Hyatt Regency Rome Central"] == ["Hyatt Free Night Award, Category 1-4"]
    assert "Your Hyatt Free Night Award, Category 1-4 can pay a night at" in answer["message"]
    assert all(h["chain"] in ("hyatt", "marriott") for h in answer["hotels"] if h["certificates"])
    for dates_, count in ((asked, 1), (dates(160, 162), 0)):
        shown = use(people.alice, "get_hotel", hotel_id="htl_hyatt-regency-rome-central", **dates_)
        assert len(shown["certificates"]) == count
    assert use(people.bob, "search_hotels", destination="Rome", **asked)["hotels"][0]["certificates"] == []
    nights = {"hotel_id": "htl_hyatt-regency-rome-central", "month": f"{day(60):%Y-%m}"}
    shown = use(people.alice, "get_hotel_availability", **nights)
    awards = sum(night["points"] is not None for night in shown["nights"])
    assert f"Award, Category 1-4 can pay one of {awards} of these nights." in shown["message"]
    assert "can pay" not in use(people.bob, "get_hotel_availability", **nights)["message"]
    use(people.alice, "add_voucher", voucher_slug="hyatt-free-night-cat-1-4", expires_on=str(day(90)))
    two = use(people.alice, "search_hotels", destination="Rome", **asked)["message"]
    assert two.count("Hyatt Free Night Award, Category 1-4 (you have 2) can pay a night at") == 1


def test_get_hotel_availability_of_a_month_names_the_nights_with_the_fewest_points(
    people: People, use: Use, with_sources: WithSources
) -> None:
    first = (clock.today().replace(day=1) + timedelta(days=62)).replace(day=1)
    nights = [stay(TOKYO, first + timedelta(days=n), 1, points=90_000 - 1000 * (n == 3)) for n in range(20)]
    with_sources(lodging("inns", answering(*nights)))
    answer = use(people.bob, "get_hotel_availability", hotel_id=TOKYO, month=f"{first:%Y-%m}")
    assert f"Fewest points: 89,000 on {format_short_weekday(first + timedelta(days=3))}." in answer["message"]
