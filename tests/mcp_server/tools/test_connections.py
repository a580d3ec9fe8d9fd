"""Connections to outside accounts, called through the gate: opened, listed, synchronised and ended."""

from datetime import date, timedelta
from typing import Any

import pytest
from sqlalchemy import select, update
from starlette.testclient import TestClient

from auth_server.pages.account import export_account
from shared import clock
from shared.db.balances import PointsBalance
from shared.db.base import transaction
from shared.db.bookings import FlightBooking
from shared.db.connections import Connection
from shared.settings import settings
from tests.mcp_server.tools.conftest import Use
from tests.support.fake_accounts import Outside, Person
from tests.support.people import People

FIVE = ("seats_aero", "awardwallet", "google_sheets", "tripit", "autopilot")


@pytest.fixture
def connected(people: People, use: Use, pages: TestClient) -> Any:
    """connected("tripit") connects Alice and says so; more fields are those of the form."""

    def connect(provider: str, **fields: Any) -> None:
        url = use(people.alice, "connect_integration", provider=provider)["authorize_url"]
        done = Person(pages, "alice-1").connect(url, provider, **fields)
        assert done.status_code == 200, done.text
        assert "is connected" in done.text

    return connect


def row(provider: str) -> Connection:
    with transaction() as session:
        return session.scalars(select(Connection).where(Connection.provider == provider)).one()


def states(use: Use, caller: Any) -> dict[str, str]:
    return {i["provider"]: i["state"] for i in use(caller, "list_integrations")["integrations"]}


@pytest.mark.spec("s4.4.connect_integration.providers", "s4.4.connect_integration.url")
@pytest.mark.spec("s8.premium_every_integration")
@pytest.mark.parametrize("provider", FIVE)
def test_connect_integration_gives_a_page_of_the_web_host_for_each_of_the_five(
    outside: Outside,
    people: People,
    use: Use,
    provider: str,
) -> None:
    answer = use(people.alice, "connect_integration", provider=provider)
    assert answer["authorize_url"].startswith(f"{settings().web_url}/integrations/{provider}/connect?link=awt_il_")
    assert (answer["status"], answer["provider"], answer["already_connected"]) == ("ok", provider, False)
    assert answer["expires_at"] > clock.now().isoformat()
    assert states(use, people.alice)[provider] == "pending"


def test_connect_integration_refuses_a_sixth_provider(outside: Outside, people: People, use: Use) -> None:
    assert use(people.alice, "connect_integration", provider="gmail")["status"] == "invalid"


def test_connect_integration_on_free_offers_seats_aero_alone(outside: Outside, people: People, use: Use) -> None:
    told = {p: use(people.bob, "connect_integration", provider=p)["status"] for p in FIVE}
    assert told == dict.fromkeys(FIVE, "paywall") | {"seats_aero": "ok"}


def test_connect_integration_without_a_set_up_is_unavailable_and_listed_so(people: People, use: Use) -> None:
    answer = use(people.alice, "connect_integration", provider="google_sheets")
    assert (answer["status"], answer["backends"][0]["reason"]) == ("backend_unavailable", "not_configured")
    assert use(people.bob, "connect_integration", provider="google_sheets")["status"] == "paywall"
    listed = states(use, people.alice)
    assert listed == dict.fromkeys(FIVE, "not_configured") | {"tripit": "disconnected"}


@pytest.mark.spec("s2.9.integration_tokens_held")
@pytest.mark.parametrize("provider", FIVE)
def test_list_integrations_after_the_whole_way_says_connected_and_tokens_are_sealed(
    outside: Outside,
    people: People,
    use: Use,
    connected: Any,
    provider: str,
) -> None:
    connected(provider)
    assert states(use, people.alice)[provider] == "connected"
    assert states(use, people.charlie)[provider] == "disconnected"
    kept = row(provider)
    assert kept.access_sealed is not None
    assert "access" not in kept.access_sealed
    assert (kept.state_hash, kept.pending_sealed, kept.pending_until) == (None, None, None)
    assert use(people.alice, "connect_integration", provider=provider)["already_connected"] is True
    assert states(use, people.alice)[provider] == "connected"


def test_list_integrations_shows_a_link_nobody_followed_as_disconnected(
    outside: Outside,
    people: People,
    use: Use,
) -> None:
    use(people.alice, "connect_integration", provider="seats_aero")
    with transaction() as session:
        session.execute(update(Connection).values(pending_until=clock.now() - timedelta(seconds=1)))
    assert states(use, people.alice)["seats_aero"] == "disconnected"


@pytest.mark.spec("s7.connection_required")
@pytest.mark.parametrize("provider", FIVE)
def test_sync_integration_without_a_connection_points_to_connect_integration(
    outside: Outside,
    people: People,
    use: Use,
    provider: str,
) -> None:
    answer = use(people.alice, "sync_integration", provider=provider)
    assert (answer["status"], answer["connect_with"]) == ("connection_required", "connect_integration")


def test_sync_integration_needs_premium_and_a_connection_survives_a_lower_plan(
    outside: Outside,
    people: People,
    use: Use,
    connected: Any,
) -> None:
    connected("tripit")
    assert use(people.bob, "sync_integration", provider="tripit")["status"] == "paywall"
    assert states(use, people.alice)["tripit"] == "connected"


def aw(name: str, balance: int, **more: Any) -> dict[str, Any]:
    facts = {"code": "x", "displayName": name, "balanceRaw": balance, "errorCode": 1, "properties": []}
    return facts | {"lastRetrieveDate": clock.now().isoformat()} | more


def test_sync_integration_brings_balances_and_statuses_and_then_changes_nothing(
    outside: Outside,
    people: People,
    use: Use,
    connected: Any,
) -> None:
    connected("awardwallet")
    tier = [{"name": "Tier", "value": "Silver", "kind": 3}]
    outside.accounts = [
        aw("British Airways (Club)", 146_780, expirationDate="2029-01-15T00:00:00+00:00", properties=tier),
        aw("World of Hyatt", 52_000),
        aw("Zorblatt Rewards", 5, code="zorb"),
    ]
    answer = use(people.alice, "sync_integration", provider="awardwallet", dry_run=True)
    assert len(answer["changes"]) == 3
    assert use(people.alice, "list_points_balances")["balances"] == []
    done = use(people.alice, "sync_integration", provider="awardwallet")
    assert done["pulled"] == {"balances": 2, "statuses": 1, "bookings": 0, "trips": 0}
    assert done["conflicts"] == [{"kind": "balance", "id": "zorb", "reason": "unknown_program"}]
    kept = {b["program"]: b for b in use(people.alice, "list_points_balances")["balances"]}
    assert kept["british-airways-club"]["balance"] == 146_780
    assert kept["british-airways-club"]["expires_on"] == "2029-01-15"
    assert kept["world-of-hyatt"]["source"] == "integration"
    assert use(people.alice, "list_loyalty_statuses")["statuses"][0]["tier"] == "Silver"
    again = use(people.alice, "sync_integration", provider="awardwallet")
    assert again["changes"] == []


def test_sync_integration_leaves_what_the_user_wrote_later_and_what_was_not_looked_at(
    outside: Outside,
    people: People,
    use: Use,
    connected: Any,
) -> None:
    connected("awardwallet")
    use(people.alice, "update_points_balance", program="world-of-hyatt", balance=10)
    yesterday = (clock.now() - timedelta(days=1)).isoformat()
    outside.accounts = [
        aw("World of Hyatt", 52_000, lastRetrieveDate=yesterday),
        aw("Hilton Honors", 7, errorCode=2),
        aw("Flying Blue", 900),
        aw("Flying Blue", 800),
    ]
    done = use(people.alice, "sync_integration", provider="awardwallet")
    assert {(c["id"], c["reason"]) for c in done["conflicts"]} == {
        ("world-of-hyatt", "newer_here"),
        ("hilton-honors", "not_checked_lately"),
        ("flying-blue", "several_accounts"),
    }
    kept = {b["program"]: b["balance"] for b in use(people.alice, "list_points_balances")["balances"]}
    assert kept == {"world-of-hyatt": 10, "flying-blue": 900}


def test_sync_integration_of_a_person_who_left_there_is_broken_and_told_once(
    outside: Outside,
    people: People,
    use: Use,
    connected: Any,
) -> None:
    connected("awardwallet")
    outside.says["awardwallet"] = "gone"
    for _ in range(2):
        told = use(people.alice, "sync_integration", provider="awardwallet")
        assert (told["status"], told["backends"][0]["reason"]) == ("backend_unavailable", "broken")
    assert states(use, people.alice)["awardwallet"] == "broken"
    told = use(people.alice, "list_notifications")["notifications"]
    assert [n["title"] for n in told] == ["AwardWallet has to be connected again"]


def test_sync_integration_of_a_provider_that_is_away_changes_nothing(
    outside: Outside,
    people: People,
    use: Use,
    connected: Any,
) -> None:
    connected("awardwallet")
    outside.says["awardwallet"] = "broken"
    answer = use(people.alice, "sync_integration", provider="awardwallet")
    assert (answer["status"], answer["backends"][0]["reason"]) == ("backend_unavailable", "down")
    assert states(use, people.alice)["awardwallet"] == "connected"


def test_sync_integration_runs_one_at_a_time_and_not_too_often(
    outside: Outside,
    people: People,
    use: Use,
    connected: Any,
) -> None:
    connected("awardwallet")
    with transaction() as session:
        session.execute(update(Connection).values(syncing_until=clock.now() + timedelta(seconds=20)))
    busy = use(people.alice, "sync_integration", provider="awardwallet")
    assert busy["status"] == "limit_reached"
    with transaction() as session:
        session.execute(update(Connection).values(syncing_until=None))
    told = [use(people.alice, "sync_integration", provider="awardwallet")["status"] for _ in range(13)]
    assert told == ["ok"] * 12 + ["limit_reached"]


def flight(day: date, **more: Any) -> int:
    with transaction() as session:
        booked = FlightBooking(
            **{
                "account_id": 1,
                "airline": "VS",
                "origin": "JFK",
                "destination": "LHR",
                "departure_date": day,
                "cabin_class": "business",
                "kind": "cash",
                "taxes_currency": "USD",
                **more,
            }
        )
        session.add(booked)
        session.flush()
        return booked.id


def test_sync_integration_writes_rows_of_a_sheet_of_its_own_and_updates_them(
    outside: Outside,
    people: People,
    use: Use,
    connected: Any,
) -> None:
    connected("google_sheets")
    use(people.alice, "update_points_balance", program="world-of-hyatt", balance=52_000)
    booked = flight(clock.today() + timedelta(days=30), notes="=IMPORTXML(1)", confirmation_number="=1+1")
    first = use(people.alice, "sync_integration", provider="google_sheets")
    assert first["pushed"] == {"rows": 2, "bookings": 1}
    sheet = outside.sheets["sheet-1"]
    assert sheet["Balances"][1][:4] == ["balance:world-of-hyatt", "world-of-hyatt", "World of Hyatt", 52_000]
    assert sheet["Flights"][1][0] == f"flight:{booked}"
    assert "=1+1" in sheet["Flights"][1]
    sheet["Balances"].append(["mine", "a note of the person"])
    sheet["Flights"][1].append("a remark next to it")
    use(people.alice, "update_points_balance", program="world-of-hyatt", balance=60_000)
    second = use(people.alice, "sync_integration", provider="google_sheets")
    assert second["pushed"] == {"rows": 1, "bookings": 0}
    assert [line[0] for line in sheet["Balances"]] == ["key", "balance:world-of-hyatt", "mine"]
    assert sheet["Balances"][1][3] == 60_000
    assert use(people.alice, "sync_integration", provider="google_sheets")["changes"] == []
    assert len(outside.sheets) == 1


def test_sync_integration_marks_rows_that_are_no_more_and_makes_a_lost_sheet_anew(
    outside: Outside,
    people: People,
    use: Use,
    connected: Any,
) -> None:
    connected("google_sheets")
    use(people.alice, "update_points_balance", program="world-of-hyatt", balance=1)
    use(people.alice, "sync_integration", provider="google_sheets")
    use(people.alice, "delete_points_balance", program="world-of-hyatt")
    use(people.alice, "sync_integration", provider="google_sheets")
    assert outside.sheets["sheet-1"]["Balances"][1][-1] == "removed here"
    assert use(people.alice, "sync_integration", provider="google_sheets")["changes"] == []
    del outside.sheets["sheet-1"]
    use(people.alice, "update_points_balance", program="flying-blue", balance=2)
    outside.sheets["other"] = {}
    assert use(people.alice, "sync_integration", provider="google_sheets")["status"] == "ok"
    assert outside.sheets["sheet-2"]["Balances"][1][0] == "balance:flying-blue"


def test_sync_integration_stopped_midway_goes_on_in_the_same_sheet(
    outside: Outside,
    people: People,
    use: Use,
    connected: Any,
) -> None:
    connected("google_sheets")
    use(people.alice, "update_points_balance", program="world-of-hyatt", balance=1)
    outside.says["sheets"] = "quota"
    answer = use(people.alice, "sync_integration", provider="google_sheets")
    assert (answer["status"], answer["backends"][0]["reason"]) == ("backend_unavailable", "down")
    outside.says.clear()
    assert use(people.alice, "sync_integration", provider="google_sheets")["status"] == "ok"
    assert list(outside.sheets) == ["sheet-1"]
    assert len(outside.sheets["sheet-1"]["Balances"]) == 2


def test_sync_integration_renews_a_token_that_is_refused_before_its_end(
    outside: Outside,
    people: People,
    use: Use,
    connected: Any,
) -> None:
    connected("google_sheets")
    use(people.alice, "sync_integration", provider="google_sheets")
    outside.says["sheets"] = "expired"
    assert use(people.alice, "sync_integration", provider="google_sheets")["status"] == "ok"
    assert outside.tokens == 2


def test_sync_integration_sends_upcoming_bookings_once_and_numbers_only_with_consent(
    outside: Outside,
    people: People,
    use: Use,
    connected: Any,
) -> None:
    connected("autopilot")
    soon = flight(clock.today() + timedelta(days=30), confirmation_number="ABC123")
    flight(clock.today() - timedelta(days=30))
    assert use(people.alice, "sync_integration", provider="autopilot", dry_run=True)["pushed"]["bookings"] == 1
    assert outside.events == []
    assert use(people.alice, "sync_integration", provider="autopilot")["pushed"]["bookings"] == 1
    sent, headers = outside.events[0]
    assert (sent["booking"]["id"], sent["booking"]["airline"]) == (f"flight:{soon}", "VS")
    assert "ABC123" not in str(sent)
    assert headers["idempotency-key"] == sent["id"]
    assert headers["x-signature"].startswith("sha256=")
    assert use(people.alice, "sync_integration", provider="autopilot")["pushed"]["bookings"] == 0
    connected("autopilot", consent="confirmation_numbers")
    use(people.alice, "sync_integration", provider="autopilot")
    assert outside.events[1][0]["booking"]["confirmation_number"] == "ABC123"


def test_sync_integration_remembers_the_bookings_that_arrived_before_it_stopped(
    outside: Outside,
    people: People,
    use: Use,
    connected: Any,
) -> None:
    connected("autopilot")
    for days in (10, 20):
        flight(clock.today() + timedelta(days=days))
    outside.says["events"] = "fail"
    assert use(people.alice, "sync_integration", provider="autopilot")["status"] == "backend_unavailable"
    outside.says.clear()
    assert use(people.alice, "sync_integration", provider="autopilot")["pushed"]["bookings"] == 1
    assert len(outside.events) == 2


@pytest.mark.spec("s4.4.disconnect_integration.revokes", "s3.integration.disconnect_deletes_tokens")
@pytest.mark.parametrize(
    ("provider", "revoked"),
    [("seats_aero", False), ("awardwallet", False), ("google_sheets", True), ("tripit", False), ("autopilot", True)],
)
def test_disconnect_integration_deletes_the_tokens_and_revokes_where_it_can(
    outside: Outside,
    people: People,
    use: Use,
    connected: Any,
    provider: str,
    revoked: bool,
) -> None:
    connected(provider)
    assert use(people.charlie, "disconnect_integration", provider=provider)["status"] == "not_found"
    answer = use(people.alice, "disconnect_integration", provider=provider)
    assert (answer["disconnected"], answer["revoked_at_provider"]) == (True, revoked)
    assert len(outside.revoked) == revoked
    kept = row(provider)
    assert (kept.access_sealed, kept.refresh_sealed, kept.state, kept.details) == (None, None, "disconnected", {})
    assert use(people.alice, "disconnect_integration", provider=provider)["status"] == "not_found"
    assert use(people.alice, "sync_integration", provider=provider)["status"] == "connection_required"


def test_disconnect_integration_holds_even_when_the_provider_fails(
    outside: Outside,
    people: People,
    use: Use,
    connected: Any,
) -> None:
    connected("google_sheets")
    outside.says["revoke"] = "fails"
    answer = use(people.alice, "disconnect_integration", provider="google_sheets")
    assert (answer["disconnected"], answer["revoked_at_provider"]) == (True, False)
    assert row("google_sheets").refresh_sealed is None


def test_disconnect_integration_tells_which_watches_find_nothing_any_more(
    outside: Outside,
    people: People,
    use: Use,
    connected: Any,
) -> None:
    connected("seats_aero")
    day = (clock.today() + timedelta(days=40)).isoformat()
    made = use(
        people.alice, "create_route_monitor", origin="JFK", destination="LHR", earliest_date=day, latest_date=day
    )
    assert made["status"] == "ok", made
    answer = use(people.alice, "disconnect_integration", provider="seats_aero")
    assert "1 route monitor" in answer["message"]
    assert "1 route monitor" in use(people.alice, "list_notifications")["notifications"][0]["body"]


def test_no_result_of_a_connection_holds_a_token(
    outside: Outside,
    people: People,
    use: Use,
    connected: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:
    connected("google_sheets")
    told = [use(people.alice, "list_integrations"), use(people.alice, "sync_integration", provider="google_sheets")]
    outside.says["google"] = "refused"
    with transaction() as session:
        session.execute(update(Connection).values(expires_at=clock.now()))
        session.execute(update(PointsBalance).values(balance=1))
    told.append(use(people.alice, "sync_integration", provider="google_sheets"))
    assert told[-1]["status"] == "backend_unavailable"
    assert "Ignore previous" not in str(told) + caplog.text
    assert "access-" not in str(told) + caplog.text
    assert "refresh-" not in str(told) + caplog.text


def test_the_copy_of_an_account_holds_no_token_of_a_connection(
    outside: Outside,
    people: People,
    connected: Any,
) -> None:
    connected("google_sheets")
    with transaction() as session:
        copy = export_account(session, people.alice.account_id)
    (told,) = copy["connections"]
    assert told["provider"] == "google_sheets"
    assert not any("sealed" in name or "hash" in name for name in told)


def search(use: Use, caller: Any, days: int = 40) -> dict[str, Any]:
    day = (clock.today() + timedelta(days=days)).isoformat()
    return use(caller, "search_availability", origin="JFK", destination="LHR", date=day, airline="VS")


@pytest.mark.spec("s7.connection_required")
def test_a_search_asks_with_the_callers_own_connection(
    outside: Outside, people: People, use: Use, connected: Any
) -> None:
    before = search(use, people.alice)
    assert (before["status"], before["provider"]) == ("connection_required", "seats_aero")
    connected("seats_aero")
    assert search(use, people.alice)["status"] == "ok"
    assert outside.last("seats")["key"] == "Bearer seats-access-1"
    assert search(use, people.charlie)["status"] == "connection_required"


def test_a_search_whose_token_is_refused_renews_it_and_then_says_broken(
    outside: Outside, people: People, use: Use, connected: Any
) -> None:
    connected("seats_aero")
    outside.says["seats-search"] = "refused"
    for days in (40, 41):
        answer = search(use, people.alice, days)
        assert (answer["status"], answer["backends"][0]["reason"]) == ("backend_unavailable", "broken")
    assert [f["key"] for p, f in outside.asked if p == "seats"] == ["Bearer seats-access-1", "Bearer seats-access-2"]
    assert states(use, people.alice)["seats_aero"] == "broken"
    outside.says.clear()
    connected("seats_aero")
    assert search(use, people.alice)["status"] == "ok"
