"""The delay alert tools: channels, numbers that stay sealed, airports in reach, caps, pausing and deleting."""

from typing import Any

import pytest
from sqlalchemy import select, update

from mcp_server.toolkit.context import Caller
from mcp_server.toolkit.registry import TOOLS
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.delay_alerts import DelayAlert
from shared.providers import registry
from shared.secrets import unseal
from shared.settings import settings
from tests.mcp_server.tools.conftest import Use
from tests.support.people import People
from tests.support.phones import prove_number
from tests.support.settings_and_clock import Configure

NUMBER, OTHER = "+14155550123", "+447700900456"
TWILIO = {
    "TWILIO_ACCOUNT_SID": "AC" + "0" * 32,
    "TWILIO_AUTH_TOKEN": "token",
    "TWILIO_SMS_FROM": "+15005550006",
    "SANDBOX_ALLOW_MESSAGES": "1",
}
TEMPLATE = {"TWILIO_WHATSAPP_FROM": "+14155550199", "TWILIO_WHATSAPP_CONTENT_SID": "HX1"}


def create(use: Use, who: Caller, **more: Any) -> dict[str, Any]:
    return use(who, "create_delay_alert", **({"airport": "JFK"} | more))


def read_alerts() -> list[DelayAlert]:
    with transaction() as session:
        return list(session.scalars(select(DelayAlert).order_by(DelayAlert.id)))


@pytest.mark.spec("s2.5b.airport_either_case")
@pytest.mark.spec("s2.5b.channels_default_email")
@pytest.mark.spec("s2.5b.min_delay")
@pytest.mark.spec("s2.5b.alert_id")
def test_create_delay_alert_fills_in_email_and_thirty_minutes(people: People, use: Use) -> None:
    answer = create(use, people.alice, airport="jfk", label=" To work ")
    alert = answer["alert"]
    assert answer["status"] == "ok"
    assert alert | {"created_at": None} == {
        "alert_id": alert["alert_id"],
        "airport": "JFK",
        "channels": ["email"],
        "unproved_channels": [],
        "phone_number": None,
        "min_delay_minutes": 30,
        "label": "To work",
        "active": True,
        "last_checked_at": None,
        "last_triggered_at": None,
        "created_at": None,
    }
    assert isinstance(alert["alert_id"], int)
    assert "no confirmed email address" in answer["message"]


def test_create_delay_alert_says_nothing_about_an_address_that_is_confirmed(people: People, use: Use) -> None:
    with transaction() as session:
        session.execute(update(Account).values(email_confirmed_at=clock.now()))
    assert "no confirmed" not in create(use, people.alice)["message"]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"airport": "ZZZ"}, "airport"),
        ({"airport": "KJFK"}, "airport"),
        ({"airport": None}, "airport"),
        ({"channels": []}, "channels"),
        ({"channels": ["pager"]}, "channels"),
        ({"channels": ["sms"]}, "phone_number"),
        ({"channels": ["email", "whatsapp"]}, "phone_number"),
        ({"phone_number": "0207 946 0123"}, "phone_number"),
        ({"phone_number": "+0123456789"}, "phone_number"),
        ({"phone_number": NUMBER + "\n"}, "phone_number"),
        ({"min_delay_minutes": -1}, "min_delay_minutes"),
        ({"min_delay_minutes": 601}, "min_delay_minutes"),
        ({"label": "x" * 81}, "label"),
    ],
)
@pytest.mark.spec("s2.5b.airport_either_case")
@pytest.mark.spec("s2.5b.channels")
@pytest.mark.spec("s2.5b.phone_required_for_text")
@pytest.mark.spec("s2.5b.min_delay")
def test_create_delay_alert_names_what_is_wrong(
    people: People, use: Use, arguments: dict[str, Any], field: str
) -> None:
    answer = create(use, people.alice, **arguments)
    assert (answer["status"], answer["errors"][0]["field"].split("[")[0]) == ("invalid", field)
    assert read_alerts() == []


@pytest.mark.spec("s2.5b.channels")
@pytest.mark.parametrize(
    ("environment", "channels", "named"),
    [
        ({}, ["sms"], ["sms"]),
        ({}, ["email", "sms", "whatsapp"], ["sms", "whatsapp"]),
        (TWILIO, ["sms", "whatsapp"], ["whatsapp"]),
        (TWILIO | {"TWILIO_WHATSAPP_FROM": "+14155550199"}, ["whatsapp"], ["whatsapp"]),
        (TWILIO | {"SANDBOX_ALLOW_MESSAGES": "0"}, ["sms"], ["sms"]),
        (TWILIO | {"TWILIO_AUTH_TOKEN": ""}, ["sms"], ["sms"]),
    ],
)
def test_create_delay_alert_refuses_a_channel_nobody_set_up(
    people: People,
    use: Use,
    configure: Configure,
    environment: dict[str, str],
    channels: list[str],
    named: list[str],
) -> None:
    configure(**environment)
    answer = create(use, people.alice, channels=channels, phone_number=NUMBER)
    assert answer["status"] == "backend_unavailable"
    assert [(b["name"], b["reason"]) for b in answer["backends"]] == [(name, "not_configured") for name in named]
    assert all(name in answer["message"] for name in named)
    assert read_alerts() == []


@pytest.mark.spec("s2.5b.channels")
def test_create_delay_alert_seals_the_number_and_shows_its_last_three_digits(
    people: People,
    use: Use,
    configure: Configure,
) -> None:
    configure(**TWILIO, **TEMPLATE)
    answer = create(use, people.alice, channels=["whatsapp", "sms", "sms"], phone_number=NUMBER)
    assert answer["alert"]["channels"] == ["whatsapp", "sms"]
    assert answer["alert"]["phone_number"] == "123"
    (row,) = read_alerts()
    kept = {name: str(value) for name, value in vars(row).items()}
    assert not [name for name, value in kept.items() if "5550123" in value]
    assert unseal(settings().encryption_keys, row.phone_sealed or "") == NUMBER
    assert "5550123" not in str(use(people.alice, "list_delay_alerts"))


PROOF = (
    " Nothing is sent by {} until the user has proved the number ending in {}: on {}/dashboard/settings/phones a code"
    " is sent to it, and the user enters it there. The alert then uses the number by itself."
)


def test_create_delay_alert_keeps_an_unproved_number_and_says_what_to_do(
    people: People, use: Use, configure: Configure
) -> None:
    configure(**TWILIO, **TEMPLATE)
    prove_number(people.charlie.account_id, NUMBER)  # another account's proof is none
    answer = create(use, people.alice, channels=["email", "sms", "whatsapp"], phone_number=NUMBER)
    assert answer["status"] == "ok"
    assert answer["alert"]["unproved_channels"] == ["sms", "whatsapp"]
    assert PROOF.format("sms and whatsapp", "123", settings().web_url) in answer["message"]
    (listed,) = use(people.alice, "list_delay_alerts")["alerts"]
    assert listed["unproved_channels"] == ["sms", "whatsapp"]
    prove_number(people.alice.account_id, NUMBER)
    (listed,) = use(people.alice, "list_delay_alerts")["alerts"]
    assert listed["unproved_channels"] == []
    answer = create(use, people.alice, channels=["sms"], phone_number=NUMBER)
    assert (answer["alert"]["unproved_channels"], "proved" in answer["message"]) == ([], False)


def test_update_delay_alert_asks_for_proof_of_another_number(people: People, use: Use, configure: Configure) -> None:
    configure(**TWILIO)
    prove_number(people.alice.account_id, NUMBER)
    id = create(use, people.alice, channels=["sms"], phone_number=NUMBER)["alert"]["alert_id"]
    with transaction() as session:
        session.execute(update(DelayAlert).values(proof_asked_at=clock.now()))
    answer = use(people.alice, "update_delay_alert", alert_id=id, phone_number=OTHER)
    assert answer["alert"]["unproved_channels"] == ["sms"]
    assert answer["message"].endswith(PROOF.format("sms", "456", settings().web_url))
    assert [row.proof_asked_at for row in read_alerts()] == [None]


def test_create_delay_alert_refuses_an_airport_no_source_covers(
    people: People, use: Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shared.providers.contract import Unanswered
    from shared.providers.sandbox import client

    def far(*_given: object) -> None:
        raise Unanswered("not_covered", "airport_not_covered")

    monkeypatch.setattr(client, "find_delays", far)
    answer = create(use, people.alice, airport="NRT")
    assert (answer["status"], answer["backends"][0]["reason"]) == ("backend_unavailable", "not_covered")
    assert "NRT" in answer["message"]
    assert read_alerts() == []


def test_create_delay_alert_refuses_where_there_is_no_source_at_all(
    people: People, use: Use, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "providers_of", lambda _verb: [])
    answer = create(use, people.alice)
    assert (answer["status"], answer["backends"][0]["reason"]) == ("backend_unavailable", "not_configured")
    assert read_alerts() == []


def test_create_delay_alert_stores_where_the_source_is_silent_and_says_so(
    people: People,
    use: Use,
    configure: Configure,
) -> None:
    configure(SANDBOX_FAULT="down")
    answer = create(use, people.alice)
    assert answer["status"] == "ok"
    assert "does not answer at this moment" in answer["message"]
    assert len(read_alerts()) == 1


@pytest.mark.spec("s4.4.create_delay_alert.premium")
def test_create_delay_alert_is_premium_and_capped(people: People, use: Use) -> None:
    refused = create(use, people.bob)
    assert (refused["status"], refused["required_tier"]) == ("paywall", "premium")
    assert TOOLS["create_delay_alert"].description.endswith("Premium.")
    assert [create(use, people.alice)["status"] for _ in range(11)] == ["ok"] * 10 + ["limit_reached"]
    assert len(read_alerts()) == 10


def test_list_delay_alerts_shows_all_or_those_asked_for(people: People, use: Use) -> None:
    ids = [create(use, people.alice, airport=code)["alert"]["alert_id"] for code in ("JFK", "LHR")]
    use(people.alice, "update_delay_alert", alert_id=ids[0], active=False)
    listed = use(people.alice, "list_delay_alerts")
    assert [a["alert_id"] for a in listed["alerts"]] == ids[::-1]
    assert [a["alert_id"] for a in use(people.alice, "list_delay_alerts", active=True)["alerts"]] == [ids[1]]
    (one,) = use(people.alice, "list_delay_alerts", alert_id=ids[0])["alerts"]
    assert (one["airport"], one["active"]) == ("JFK", False)
    assert use(people.charlie, "list_delay_alerts", alert_id=ids[0])["status"] == "not_found"
    assert use(people.bob, "list_delay_alerts")["alerts"] == []  # Free may look


@pytest.mark.spec("s3.delay_alert.pause")
def test_update_delay_alert_pauses_without_deleting_and_forgets_the_episode(people: People, use: Use) -> None:
    id = create(use, people.alice)["alert"]["alert_id"]
    with transaction() as session:
        session.execute(update(DelayAlert).values(episode_since=clock.now(), episode_level=2))
    paused = use(people.alice, "update_delay_alert", alert_id=id, active=False)
    assert (paused["alert"]["active"], paused["changed"]) == (False, ["active"])
    again = use(people.alice, "update_delay_alert", alert_id=id, active=True)
    assert (again["alert"]["active"], again["changed"]) == (True, ["active"])
    assert [row.episode_since for row in read_alerts()] == [None]


def test_update_delay_alert_changes_what_is_sent_and_nothing_else(
    people: People,
    use: Use,
    configure: Configure,
) -> None:
    configure(**TWILIO)
    id = create(use, people.alice, label="Home")["alert"]["alert_id"]

    def change(**sent: Any) -> dict[str, Any]:
        return use(people.alice, "update_delay_alert", alert_id=id, **sent)

    assert change()["changed"] == []
    assert change(channels=["sms"])["errors"][0]["field"] == "phone_number"
    assert change(channels=["sms", "email"], phone_number=NUMBER)["changed"] == ["channels", "phone_number"]
    assert change(phone_number=NUMBER)["changed"] == []
    assert change(phone_number=OTHER)["alert"]["phone_number"] == "456"
    assert change(clear=["phone_number"])["errors"][0]["field"] == "phone_number"
    assert change(clear=["phone_number"], phone_number=NUMBER)["errors"][0]["field"] == "clear"
    assert change(channels=["email", "whatsapp"])["status"] == "backend_unavailable"
    answer = change(channels=["email"], clear=["phone_number", "label"], min_delay_minutes=0)
    assert set(answer["changed"]) == {"channels", "phone_number", "label", "min_delay_minutes"}
    (row,) = read_alerts()
    assert (row.channels, row.phone_sealed, row.phone_ending, row.label) == (["email"], None, None, None)
    assert use(people.charlie, "update_delay_alert", alert_id=id, label="x")["status"] == "not_found"


def test_update_delay_alert_can_be_paused_after_its_channel_went_away(
    people: People,
    use: Use,
    configure: Configure,
) -> None:
    configure(**TWILIO)
    id = create(use, people.alice, channels=["sms"], phone_number=NUMBER)["alert"]["alert_id"]
    configure(TWILIO_SMS_FROM="")
    assert use(people.alice, "update_delay_alert", alert_id=id, active=False)["status"] == "ok"


def test_update_delay_alert_starts_none_without_a_free_place(people: People, use: Use) -> None:
    ids = [create(use, people.alice)["alert"]["alert_id"] for _ in range(10)]
    use(people.alice, "update_delay_alert", alert_id=ids[0], active=False)
    create(use, people.alice)
    answer = use(people.alice, "update_delay_alert", alert_id=ids[0], active=True)
    assert (answer["status"], answer["limit"], answer["cap"]) == ("limit_reached", "delay_alerts", 10)


@pytest.mark.spec("s3.delay_alert.delete_permanent")
@pytest.mark.spec("s4.4.delete_delay_alert.premium")
@pytest.mark.spec("s4.4.delete_delay_alert.pause_hint")
def test_delete_delay_alert_is_final_and_points_to_pausing(people: People, use: Use) -> None:
    id = create(use, people.alice, label="Home")["alert"]["alert_id"]
    assert use(people.charlie, "delete_delay_alert", alert_id=id)["status"] == "not_found"
    assert use(people.bob, "delete_delay_alert", alert_id=id)["status"] == "paywall"
    assert use(people.alice, "delete_delay_alert")["errors"][0]["field"] == "alert_id"
    answer = use(people.alice, "delete_delay_alert", alert_id=id)
    assert answer["removed"] == {"alert_id": id, "airport": "JFK", "label": "Home"}
    assert read_alerts() == []
    said = TOOLS["delete_delay_alert"].description
    assert "confirm with the user first" in said
    assert "update_delay_alert and active false" in said
    assert said.endswith("Premium.")


def test_create_delay_alert_says_when_another_one_says_the_same(people: People, use: Use) -> None:
    first = create(use, people.alice)["alert"]["alert_id"]
    assert "the same" not in create(use, people.alice, min_delay_minutes=45)["message"]
    assert f"Number {first} says the same and is active too" in create(use, people.alice)["message"]
