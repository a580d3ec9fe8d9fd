"""The card catalogue through the gate: searched by words, filters and order; what is unknown is said."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.mcp_server.tools.conftest import Use
from tests.support.fake_rates import read_dollars
from tests.support.people import People
from tests.support.settings_and_clock import StandingClock


@pytest.fixture(autouse=True)
def november(standing_clock: StandingClock) -> None:
    """The day these facts were gathered: offers age, so the day matters."""
    standing_clock.set(datetime(2026, 11, 22, 12, tzinfo=UTC))


def find_card(use: Use, people: People, slug: str) -> dict[str, Any]:
    return use(people.bob, "search_card_catalog", slug=slug)["cards"][0]


def rates(card: dict[str, Any]) -> dict[str, Any]:
    return {rate["category"]: rate for rate in card["earn_rates"]}


def test_search_card_catalog_shows_a_whole_entry(people: People, use: Use) -> None:
    answer = use(people.bob, "search_card_catalog", slug="us-chase-sapphire-preferred")
    card = answer["cards"][0]
    assert (answer["paging"]["total"], card["country"], card["currency"], card["annual_fee"]) == (1, "US", "USD", 95)
    offer = card["welcome_bonus"]
    assert (offer["amount"], offer["spend_requirement"], offer["ends_on"]) == (75_000, 5_000, None)
    assert offer["estimated_value"] > 0
    assert offer["description"].endswith("for 5,000 USD within 3 months, as seen on 30 Sep 2026")
    assert rates(card)["dining"].items() >= {"multiplier": 3.0, "verified_on": "2026-08-08"}.items()
    assert (card["unaudited"], card["past_welcome_offer"]) == (False, None)
    assert "Welcome offers as seen on 30 Sep 2026; they change often." in answer["message"]


def test_search_card_catalog_says_what_a_card_costs_abroad_and_for_a_second_person(people: People, use: Use) -> None:
    reserve = use(people.bob, "search_card_catalog", slug="us-amex-delta-reserve")
    assert "No fee on purchases abroad. An additional card costs $175 a year." in reserve["message"]
    card = reserve["cards"][0]
    assert (card["foreign_fee_percent"], card["additional_card_fee"]) == (0, 175)
    assert card["fees_source"].startswith("https://github.com/")
    double = use(people.bob, "search_card_catalog", slug="us-citi-double-cash")
    assert "Purchases abroad cost 3 % more." in double["message"]
    unknown = use(people.bob, "search_card_catalog", slug="us-chase-united-quest")
    assert unknown["cards"][0]["foreign_fee_percent"] is None
    assert "abroad" not in unknown["message"]


def test_a_welcome_offer_is_history_half_a_year_after_it_was_seen(
    people: People, use: Use, standing_clock: StandingClock
) -> None:
    standing_clock.set(datetime(2027, 3, 30, 12, tzinfo=UTC))
    answer = use(people.bob, "search_card_catalog", slug="us-chase-sapphire-preferred")
    card = answer["cards"][0]
    assert card["welcome_bonus"] is None
    assert card["past_welcome_offer"].endswith("within 3 months, is history (seen on 30 Sep 2026).")
    assert "No current welcome offer is known for 1 card." in answer["message"]


def test_a_welcome_offer_with_a_last_day_runs_until_that_day(
    people: People, use: Use, standing_clock: StandingClock
) -> None:
    offer = find_card(use, people, "us-amex-hilton-aspire")["welcome_bonus"]
    assert (offer["amount"], offer["ends_on"]) == (200_000, "2027-01-13")
    assert offer["description"].endswith("until 13 Jan 2027, as seen on 7 Oct 2026")
    standing_clock.set(datetime(2027, 1, 14, 12, tzinfo=UTC))
    ended = find_card(use, people, "us-amex-hilton-aspire")
    assert ended["welcome_bonus"] is None
    assert ended["past_welcome_offer"].startswith("This offer has ended on 13 Jan 2027: ")


def test_an_offer_whose_amount_the_issuer_decides_says_up_to(people: People, use: Use) -> None:
    offer = find_card(use, people, "us-amex-gold")["welcome_bonus"]
    assert offer["description"].startswith("up to 100,000 ")


def test_offers_of_old_sources_are_never_shown_as_current(people: People, use: Use) -> None:
    card = find_card(use, people, "uk-barclaycard-avios-plus")
    assert card["welcome_bonus"] is None
    assert "is history (seen in May 2026)" in card["past_welcome_offer"]


def test_a_card_closed_to_new_applicants_is_told_as_closed(people: People, use: Use) -> None:
    card = find_card(use, people, "us-citi-custom-cash")
    assert (card["state"], card["unaudited"]) == ("closed", True)
    assert "28 May 2026" in card["note"]


def test_rates_of_refreshed_cards_are_the_present_ones(people: People, use: Use) -> None:
    assert rates(find_card(use, people, "us-amex-gold"))["portal_hotels"]["multiplier"] == 5
    assert rates(find_card(use, people, "us-chase-united-explorer"))["brand"]["multiplier"] == 3


def test_rates_of_other_countries_are_the_looked_up_ones(people: People, use: Use) -> None:
    miles = rates(find_card(use, people, "ca-bmo-airmiles-we"))["base"]
    assert (miles["multiplier"], miles["note"]) == (0.0833, "1 mile for each CAD 12")
    assert find_card(use, people, "au-hsbc-star-alliance")["annual_fee"] == 450
    assert "brand" not in rates(find_card(use, people, "uk-ba-amex-accelerating-business"))
    assert rates(find_card(use, people, "uk-hsbc-premier-world-elite"))["base"]["multiplier"] == 3
    awards = rates(find_card(use, people, "au-cba-ultimate-awards"))
    assert (awards["base"]["multiplier"], awards["foreign"]["multiplier"]) == (1, 3)
    assert "partner_airlines" not in rates(find_card(use, people, "au-westpac-altitude-black"))  # ended in July 2025
    assert find_card(use, people, "au-amex-velocity-escape-plus")["annual_fee"] == 95


def test_what_auditors_note_is_not_told_to_readers(people: People, use: Use) -> None:
    cards = use(people.bob, "search_card_catalog", per_page=100)["cards"]
    texts = [t for c in cards for t in (c["note"], *(r["note"] for r in c["earn_rates"])) if t]
    assert texts
    assert not [t for t in texts if "audit" in t or "general knowledge" in t or "public list" in t]


def test_a_rate_holds_from_its_first_to_its_last_day(people: People, use: Use, standing_clock: StandingClock) -> None:
    assert rates(find_card(use, people, "us-chase-aeroplan"))["dining"]["multiplier"] == 3
    standing_clock.set(datetime(2027, 1, 5, 12, tzinfo=UTC))
    assert rates(find_card(use, people, "us-chase-aeroplan"))["dining"]["multiplier"] == 2


def test_search_card_catalog_names_partners_of_the_cards_own_country_only(people: People, use: Use) -> None:
    def card(slug: str) -> dict[str, object]:
        return use(people.bob, "search_card_catalog", slug=slug)["cards"][0]

    american = {"choice-privileges", "jetblue-trueblue"}
    assert american <= set(card("us-amex-gold")["transfer_partners"])
    assert "air-canada-aeroplan" in card("ca-amex-cobalt")["transfer_partners"]
    assert "qantas-frequent-flyer" in card("au-amex-platinum")["transfer_partners"]
    for slug in ("ca-amex-cobalt", "au-amex-platinum"):  # points of another country's programme
        assert card(slug)["earns_program"] != "amex-membership-rewards"
        assert not american & set(card(slug)["transfer_partners"])


def test_search_card_catalog_shows_the_ratios_of_the_card_itself(people: People, use: Use) -> None:
    def note(slug: str) -> str:
        return use(people.bob, "search_card_catalog", slug=slug)["cards"][0]["note"]

    assert "Ratios of this card: World of Hyatt 4:3." in note("us-chase-sapphire-preferred")
    assert "Ratios of this card: World of Hyatt 1:1." in note("us-chase-sapphire-reserve")
    basic = note("us-citi-double-cash")
    assert "Where the ratio depends on the card, this one gives 10:7, except" in basic
    assert "Emirates Skywards 25:14" in basic


def test_search_card_catalog_finds_by_words_best_first(people: People, use: Use) -> None:
    answer = use(people.bob, "search_card_catalog", query="amex gold", country="us")
    assert answer["cards"][0]["slug"] == "us-amex-gold"
    assert all(c["country"] == "US" for c in answer["cards"])


def test_search_card_catalog_filters_together(people: People, use: Use) -> None:
    cards = use(people.bob, "search_card_catalog", earns_program="british-airways-club", country="UK")["cards"]
    assert cards
    assert {(c["earns_program"], c["country"]) for c in cards} == {("british-airways-club", "GB")}
    cheap = use(people.bob, "search_card_catalog", issuer="chase", max_annual_fee=100, per_page=100)["cards"]
    assert cheap
    assert all("chase" in c["issuer"].lower() and c["annual_fee"] <= 100 for c in cheap)


def test_search_card_catalog_sorts_across_currencies(people: People, use: Use) -> None:
    fees = [
        c["annual_fee"] * read_dollars(c["currency"])
        for c in use(people.bob, "search_card_catalog", sort="annual_fee", per_page=50)["cards"]
    ]
    assert fees == sorted(fees)
    best = use(people.bob, "search_card_catalog", sort="welcome_bonus_value", country="US", per_page=100)["cards"]
    values = [(c["welcome_bonus"] or {}).get("estimated_value") or 0 for c in best]
    assert values == sorted(values, reverse=True)
    assert values[0] > 1_000


def test_search_card_catalog_names_the_nearest(people: People, use: Use) -> None:
    lost = use(people.bob, "search_card_catalog", slug="us-amex-gould")
    assert (lost["status"], lost["what"]) == ("not_found", "card")
    assert "us-amex-gold" in lost["nearest"]
    assert use(people.bob, "search_card_catalog", query="zorblatt")["nearest"] == []  # nothing is like it
    assert use(people.bob, "search_card_catalog", issuer="Zorblatt Credit Union")["nearest"] == []


def test_search_card_catalog_says_which_countries_it_knows(people: People, use: Use) -> None:
    nothing = use(people.bob, "search_card_catalog", country="FR")
    assert (nothing["status"], nothing["cards"]) == ("ok", [])
    assert "AE, AU, CA, DE, GB, HK, IN, SG, US" in nothing["message"]


def test_search_card_catalog_lists_ten_cards_and_says_how_to_get_more(people: People, use: Use) -> None:
    first = use(people.alice, "search_card_catalog", country="US")
    assert len(first["cards"]) == 10 < first["paging"]["total"]
    assert "Rows 1 to 10 are here; page 2 has more." in first["message"]
    last = use(people.alice, "search_card_catalog", country="US", page=-(-first["paging"]["total"] // 10))
    assert (last["paging"]["has_more"], " are here" in last["message"]) == (False, False)
    shortened = use(people.alice, "search_card_catalog", per_page=100)
    assert (" are here" in shortened["message"], "Too long to show whole" in shortened["message"]) == (False, True)


def test_search_card_catalog_knows_issuers_it_has_no_cards_of(people: People, use: Use) -> None:
    answer = use(people.bob, "search_card_catalog", issuer="ICICI")
    assert (answer["status"], answer["nearest"]) == ("not_found", [])
    assert answer["message"].startswith("ICICI Bank is known here, but has no data")
    sister = use(people.bob, "search_card_catalog", query="Ink Business Plus")
    assert sister["status"] == "not_found"


@pytest.mark.parametrize(("query", "field"), [("rent", "earn_rates"), ("Priority Pass", "lounge_access")])
def test_search_card_catalog_finds_cards_by_what_they_offer(people: People, use: Use, query: str, field: str) -> None:
    answer = use(people.alice, "search_card_catalog", query=query, per_page=50, detail="full")
    assert len(answer["cards"]) >= 3
    assert all(query.lower() in str(card[field]).lower().replace("-", " ") for card in answer["cards"])


@pytest.mark.parametrize(
    ("query", "slug"),
    [
        ("card for rent", "us-bilt-blue"),
        ("Centurion lounge", "us-amex-platinum"),
        ("streaming", "us-chase-sapphire-preferred"),
        ("free nights", "us-chase-ihg-premier"),
        ("Chase Priority Pass", "us-chase-sapphire-reserve"),
    ],
)
def test_search_card_catalog_reads_what_is_looked_for_in_a_few_words(
    people: People, use: Use, query: str, slug: str
) -> None:
    answer = use(people.alice, "search_card_catalog", query=query, per_page=100)
    assert slug in [card["slug"] for card in answer["cards"]]
    assert len(answer["cards"]) < 60
