"""The profile through the gate: as it begins, changed field by field, refused where it cannot be, one per account."""

from typing import Any

import pytest

from auth_server.pages import settings
from shared.db.base import transaction
from shared.db.profile import MAILS, Profile, find_addressee
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People

UPDATE = "update_profile"
BEGINS = {
    "home_airport": None,
    "default_cabin": None,
    "currency": "USD",
    "country": None,
    "timezone": "UTC",
    "preferred_airlines": [],
    "avoided_airlines": [],
    "default_passengers": 1,
    "mail": {
        "flight_alerts": True,
        "route_monitors": True,
        "hotel_price_drops": True,
        "standing_orders": True,
        "deadlines": True,
        "weekly_overview": False,
        "product_news": False,
    },
}
ASKED = {
    "home_airport": "lhr",
    "default_cabin": "business",
    "currency": "gbp",
    "country": "uk",
    "timezone": "europe/london",
    "preferred_airlines": ["British Airways", "ba", "JL"],
    "avoided_airlines": ["united"],
    "default_passengers": 2,
    "mail": {"hotel_price_drops": True, "flight_alerts": False},
}
STORED = ASKED | {
    "home_airport": "LHR",
    "currency": "GBP",
    "country": "GB",
    "timezone": "Europe/London",
    "preferred_airlines": ["BA", "JL"],
    "avoided_airlines": ["UA"],
    "mail": BEGINS["mail"] | {"hotel_price_drops": True, "flight_alerts": False},  # type: ignore[operator]
}


def rows() -> int:
    with transaction() as session:
        return session.query(Profile).count()


def test_get_profile_shows_how_everything_begins_and_stores_nothing(people: People, use: Use) -> None:
    shown = use(people.alice, "get_profile")["profile"]
    assert shown["email"] == "alice@example.test"
    assert shown["tier"] == "premium"
    assert len(shown["member_since"]) == 10
    assert {name: shown[name] for name in BEGINS} == BEGINS
    assert rows() == 0


def test_update_profile_stores_each_field_in_its_own_form(people: People, use: Use) -> None:
    answer = use(people.alice, UPDATE, **ASKED)
    assert answer["status"] == "ok"
    assert {name: answer["profile"][name] for name in STORED} == STORED
    assert sorted(answer["changed"]) == sorted(STORED)
    assert use(people.alice, "get_profile")["profile"] == answer["profile"]
    assert {n: use(people.bob, "get_profile")["profile"][n] for n in BEGINS} == BEGINS


def test_update_profile_keeps_what_is_not_sent_and_says_what_is_different(people: People, use: Use) -> None:
    use(people.alice, UPDATE, **ASKED)
    answer = use(people.alice, UPDATE, default_passengers=2, country="GB", default_cabin="first")
    assert answer["changed"] == ["default_cabin"]
    assert {name: answer["profile"][name] for name in STORED} == STORED | {"default_cabin": "first"}


def test_update_profile_with_nothing_or_the_same_changes_nothing(people: People, use: Use) -> None:
    assert use(people.alice, UPDATE)["changed"] == []
    assert use(people.alice, UPDATE, currency="USD", mail={"product_news": False})["changed"] == []
    assert rows() == 0


def test_update_profile_clears_every_field_that_can_be_cleared(people: People, use: Use) -> None:
    use(people.alice, UPDATE, **ASKED)
    names = [name for name in BEGINS if name != "mail"]
    answer = use(people.alice, UPDATE, clear=names)
    assert sorted(answer["changed"]) == sorted(names)
    assert {name: answer["profile"][name] for name in names} == {name: BEGINS[name] for name in names}


def test_update_profile_empties_a_list_that_is_sent_empty(people: People, use: Use) -> None:
    use(people.alice, UPDATE, **ASKED)
    answer = use(people.alice, UPDATE, preferred_airlines=[])
    assert (answer["changed"], answer["profile"]["preferred_airlines"]) == (["preferred_airlines"], [])


def test_update_profile_takes_the_code_of_a_city(people: People, use: Use) -> None:
    assert use(people.alice, UPDATE, home_airport="lon")["profile"]["home_airport"] == "LON"


@pytest.mark.parametrize(
    ("given", "status", "field"),
    [
        ({"timezone": "Mars/Olympus"}, "invalid", "timezone"),
        ({"timezone": "../../etc/passwd"}, "invalid", "timezone"),
        ({"timezone": ""}, "invalid", "timezone"),
        ({"country": "ZZ"}, "invalid", "country"),
        ({"mail": {"news": True}}, "invalid", "mail"),
        ({"mail": {"product_news": "yes"}}, "invalid", "mail.product_news"),
        ({"mail": ["product_news"]}, "invalid", "mail"),
        ({"currency": "USD", "clear": ["currency"]}, "invalid", "clear"),
        ({"preferred_airlines": ["BA"], "avoided_airlines": ["british airways"]}, "invalid", "avoided_airlines"),
        ({"default_passengers": 10}, "invalid", "default_passengers"),
        ({"preferred_airlines": ["BA"] * 21}, "invalid", "preferred_airlines"),
        ({"clear": ["mail"]}, "invalid", "clear[0]"),
        ({"home_airport": "QQQ"}, "not_found", None),
        ({"avoided_airlines": ["Zorblatt Air"]}, "not_found", None),
    ],
)
def test_update_profile_refuses_what_cannot_be(
    people: People, use: Use, given: dict[str, Any], status: str, field: str | None
) -> None:
    answer = use(people.alice, UPDATE, **given)
    assert answer["status"] == status
    assert field is None or answer["errors"][0]["field"] == field
    assert rows() == 0


def test_update_profile_refuses_an_airline_that_is_preferred_already(people: People, use: Use) -> None:
    use(people.alice, UPDATE, preferred_airlines=["BA"])
    assert use(people.alice, UPDATE, avoided_airlines=["BA"])["status"] == "invalid"
    both = use(people.alice, UPDATE, avoided_airlines=["BA"], clear=["preferred_airlines"])
    assert (both["profile"]["preferred_airlines"], both["profile"]["avoided_airlines"]) == ([], ["BA"])


def test_mail_settings_are_the_ones_of_the_dashboard(people: People, use: Use) -> None:
    shown = use(people.alice, UPDATE, mail={"product_news": True, "route_monitors": False})["profile"]["mail"]
    with transaction(people.alice.account_id) as session:
        assert find_addressee(session, people.alice.account_id).mail_switches == shown
    assert set(settings.MAIL_KINDS) == set(MAILS) == set(shown)


def test_recommend_status_path_starts_at_the_home_airport_of_the_profile(people: People, use: Use) -> None:
    asked = {"target_program": "british-airways-club", "target_tier": "Silver"}
    assert "in the profile" in " ".join(use(people.alice, "recommend_status_path", **asked)["unreachable_reasons"])
    use(people.alice, UPDATE, home_airport="LHR")
    by_profile = use(people.alice, "recommend_status_path", **asked)
    by_argument = use(people.alice, "recommend_status_path", home_airport="LHR", **asked)
    says = " From LHR, as your profile says."
    assert by_profile == by_argument | {"message": by_profile["message"]}
    assert by_profile["message"].replace(says, "") == by_argument["message"] != by_profile["message"]
    assert "in the profile" not in " ".join(by_profile["unreachable_reasons"])


def test_recommend_cards_are_of_the_country_of_the_profile_where_cards_of_it_are_known(
    people: People, use: Use
) -> None:
    def recommend(**given: Any) -> dict[str, Any]:
        answer = use(people.paula, "recommend_cards", monthly_spend={"groceries": 500}, **given)
        return {name: value for name, value in answer.items() if name != "report_url"}  # which names the arguments

    everywhere = recommend()
    use(people.paula, UPDATE, country="GB")
    assert recommend() == recommend(country="GB") != everywhere
    use(people.paula, UPDATE, country="TO")
    assert recommend() == everywhere
