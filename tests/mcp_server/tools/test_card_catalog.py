"""The card catalogue through the gate: searched by words, filters and order; what is unknown is said."""

import pytest

from tests.mcp_server.tools.conftest import Use
from tests.support.fake_rates import read_dollars
from tests.support.people import People


def test_search_card_catalog_shows_a_whole_entry(people: People, use: Use) -> None:
    answer = use(people.bob, "search_card_catalog", slug="ca-amex-cobalt")
    card = answer["cards"][0]
    assert (answer["paging"]["total"], card["country"], card["currency"], card["annual_fee"]) == (
        1,
        "CA",
        "CAD",
        191.88,
    )
    assert card["welcome_bonus"]["amount"] == 15_000
    assert card["welcome_bonus"]["spend_requirement"] == 9_000
    assert card["welcome_bonus"]["estimated_value"] == pytest.approx(15_000 * 0.02 / read_dollars("CAD"), abs=0.01)
    assert {"category": "dining", "multiplier": 5.0}.items() <= card["earn_rates"][1].items()
    assert card["unaudited"] is True
    assert "unaudited" in answer["message"]


def test_search_card_catalog_names_partners_of_the_cards_own_country_only(people: People, use: Use) -> None:
    def card(slug: str) -> dict[str, object]:
        return use(people.bob, "search_card_catalog", slug=slug)["cards"][0]

    assert "delta-skymiles" in card("us-amex-gold")["transfer_partners"]
    for slug in ("ca-amex-cobalt", "au-amex-platinum"):  # their routes were not gathered, and those of the US differ
        assert card(slug)["transfer_partners"] == []
        assert "routes" in card(slug)["note"]


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
    best = use(people.bob, "search_card_catalog", sort="welcome_bonus_value", country="GB")["cards"]
    assert best[0]["slug"] == "uk-barclaycard-avios-plus"
    assert best[-1]["welcome_bonus"] is None


def test_search_card_catalog_names_the_nearest(people: People, use: Use) -> None:
    lost = use(people.bob, "search_card_catalog", slug="us-amex-gould")
    assert (lost["status"], lost["what"]) == ("not_found", "card")
    assert "us-amex-gold" in lost["nearest"]
    assert len(use(people.bob, "search_card_catalog", query="zorblatt")["nearest"]) == 3
    assert len(use(people.bob, "search_card_catalog", issuer="Zorblatt Credit Union")["nearest"]) == 3


def test_search_card_catalog_says_which_countries_it_knows(people: People, use: Use) -> None:
    nothing = use(people.bob, "search_card_catalog", country="FR")
    assert (nothing["status"], nothing["cards"]) == ("ok", [])
    assert "AU, CA, GB, US" in nothing["message"]
