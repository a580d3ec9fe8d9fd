"""The pages of a connection under hostile hands: other accounts, other browsers, used, expired and mixed-up secrets."""

import html
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import anyio
import pytest
from sqlalchemy import select, update
from starlette.testclient import TestClient

from mcp_server.toolkit.context import Caller
from shared import clock
from shared.db.base import transaction
from shared.db.connections import Connection
from shared.domain.plans import Plan
from shared.secrets import digest
from shared.services.connections.connecting import open_link
from tests.support.fake_accounts import CODE, FEED, Outside, Person, came_back
from tests.support.people import account

Link = Callable[..., str]


@pytest.fixture
def alice(clean: None) -> Caller:
    account("charlie", Plan.PREMIUM)
    return account("alice", Plan.PREMIUM)


@pytest.fixture
def link(alice: Caller, outside: Outside) -> Link:
    """link("tripit") is a fresh link of Alice's."""

    def make(provider: str) -> str:
        with transaction(alice.account_id) as session:
            return open_link(session, alice.account_id, provider).url

    return make


def row() -> Connection:
    with transaction() as session:
        return session.scalars(select(Connection)).one()


@pytest.fixture
def hers(pages: TestClient) -> Person:
    return Person(pages, "alice-1")


@pytest.fixture
def his(pages: TestClient) -> Person:
    return Person(pages, "charlie-1")


def test_a_person_not_signed_in_signs_in_first_and_comes_back_to_the_link(link: Link, pages: TestClient) -> None:
    url = link("seats_aero")
    answer = Person(pages, "nobody").get(url)
    assert answer.status_code == 303
    there = urlsplit(answer.headers["location"])
    assert there.path == "/signin"
    wanted = dict(parse_qsl(there.query))["return_to"]
    assert url.endswith(wanted)
    assert safe(wanted) == wanted


def safe(path: str) -> str:
    from auth_server.accounts.signin import safe_return_path

    return safe_return_path(path)


def test_the_page_says_what_is_shared_and_uses_nothing_up(link: Link, hers: Person) -> None:
    url = link("google_sheets")
    for _ in range(2):
        page = hers.get(url)
        assert page.status_code == 200
        assert "one spreadsheet" in page.text
    assert page.headers["cache-control"] == "no-store"
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert "<script" not in page.text


def test_a_look_ahead_uses_nothing_up(link: Link, hers: Person) -> None:
    hers.pages.head(link("seats_aero"))
    onward = hers.go(link("seats_aero")).headers["location"]
    assert hers.pages.head(came_back(onward, "seats_aero"), headers={"cookie": "award=alice-1"}).status_code == 200
    assert hers.get(came_back(onward, "seats_aero")).status_code == 200


def test_the_way_to_google_carries_pkce_state_and_the_least_scope(link: Link, hers: Person, outside: Outside) -> None:
    asked = dict(parse_qsl(urlsplit(hers.go(link("google_sheets")).headers["location"]).query))
    assert asked["scope"] == "https://www.googleapis.com/auth/drive.file"
    assert (asked["code_challenge_method"], asked["access_type"], asked["prompt"]) == ("S256", "offline", "consent")
    assert asked["redirect_uri"] == "http://127.0.0.1:8000/integrations/google_sheets/callback"
    assert row().state_hash == digest(asked["state"])
    assert hers.get(came_back(f"x?state={asked['state']}", "google_sheets")).status_code == 200
    sent = outside.last("/google/token")
    assert len(sent["code_verifier"]) >= 43
    assert sent["redirect_uri"] == asked["redirect_uri"]


def test_seats_aero_exchanges_the_code_as_json(link: Link, hers: Person, outside: Outside) -> None:
    assert hers.connect(link("seats_aero"), "seats_aero").status_code == 200
    sent = outside.last("/seats/token")
    assert (sent["grant_type"], sent["code"], sent["scope"]) == ("authorization_code", CODE, "openid")


def test_a_link_opened_by_another_account_is_refused_and_stays_good(link: Link, hers: Person, his: Person) -> None:
    url = link("seats_aero")
    assert his.get(url).status_code == 403
    assert his.go(url).status_code == 403
    assert hers.go(url).status_code == 303


def test_a_link_works_once_and_the_newest_alone(link: Link, hers: Person) -> None:
    first, second = link("seats_aero"), link("seats_aero")
    assert hers.get(first).status_code == 410
    assert hers.go(second).status_code == 303
    assert hers.go(second).status_code == 410
    assert hers.get(second).status_code == 410


def test_an_expired_link_and_an_expired_state_are_refused(link: Link, hers: Person, outside: Outside) -> None:
    url = link("seats_aero")
    _expire()
    assert hers.get(url).status_code == 410
    onward = hers.go(link("seats_aero")).headers["location"]
    _expire()
    assert hers.get(came_back(onward, "seats_aero")).status_code == 410
    assert outside.count("/seats/token") == 0


def _expire() -> None:
    with transaction() as session:
        session.execute(update(Connection).values(pending_until=clock.now() - timedelta(seconds=1)))


def test_tripit_gives_five_minutes_the_others_ten(link: Link) -> None:
    link("tripit")
    soon = row().pending_until
    assert soon is not None
    assert timedelta(minutes=4) < soon - clock.now() <= timedelta(minutes=5)


def test_a_callback_in_another_accounts_browser_connects_nothing(
    link: Link, hers: Person, his: Person, outside: Outside
) -> None:
    onward = hers.go(link("seats_aero")).headers["location"]
    assert his.get(came_back(onward, "seats_aero")).status_code == 403
    assert outside.count("/seats/token") == 0
    assert row().connected_at is None


def test_a_callback_in_another_browser_of_the_same_account_connects_nothing(
    link: Link, hers: Person, outside: Outside
) -> None:
    onward = hers.go(link("seats_aero")).headers["location"]
    other = Person(hers.pages, "alice-2")
    assert other.get(came_back(onward, "seats_aero")).status_code == 403
    assert outside.count("/seats/token") == 0


def test_a_callback_without_a_session_connects_nothing(link: Link, hers: Person, outside: Outside) -> None:
    onward = hers.go(link("seats_aero")).headers["location"]
    assert Person(hers.pages, "nobody").get(came_back(onward, "seats_aero")).status_code == 403
    assert outside.count("/seats/token") == 0


def test_a_callback_is_good_once(link: Link, hers: Person, outside: Outside) -> None:
    back = came_back(hers.go(link("seats_aero")).headers["location"], "seats_aero")
    assert hers.get(back).status_code == 200
    assert hers.get(back).status_code == 410
    assert outside.count("/seats/token") == 1


@pytest.mark.parametrize("state", ["", "made-up", "awt_is_" + "0" * 49])
def test_a_callback_with_a_wrong_state_is_refused(link: Link, hers: Person, outside: Outside, state: str) -> None:
    onward = hers.go(link("seats_aero")).headers["location"]
    assert hers.get(came_back(onward, "seats_aero", state=state)).status_code == 410
    assert outside.count("/seats/token") == 0


def test_the_link_is_no_state_and_the_state_no_link(link: Link, hers: Person) -> None:
    url = link("seats_aero")
    secret = dict(parse_qsl(urlsplit(url).query))["link"]
    assert hers.get(f"/integrations/seats_aero/callback?code={CODE}&state={secret}").status_code == 410
    state = dict(parse_qsl(urlsplit(hers.go(url).headers["location"]).query))["state"]
    assert hers.get(f"/integrations/seats_aero/connect?link={state}").status_code == 410


def test_a_state_of_one_provider_is_nothing_to_another(link: Link, hers: Person, outside: Outside) -> None:
    onward = hers.go(link("seats_aero")).headers["location"]
    assert hers.get(came_back(onward, "google_sheets")).status_code == 410
    assert hers.get(came_back(onward, "gmail")).status_code == 410
    assert outside.count("/google/token") == 0
    assert hers.get(came_back(onward, "seats_aero")).status_code == 200


def test_a_parameter_sent_twice_is_refused(link: Link, hers: Person, outside: Outside) -> None:
    back = came_back(hers.go(link("seats_aero")).headers["location"], "seats_aero")
    assert hers.get(back + "&code=other").status_code == 410
    assert outside.count("/seats/token") == 0


def test_somebody_who_says_no_there_is_not_connected(link: Link, hers: Person) -> None:
    onward = hers.go(link("seats_aero")).headers["location"]
    page = hers.get(came_back(onward, "seats_aero", error="access_denied", code=""))
    assert "did not allow" in page.text
    assert (row().state, row().last_error) == ("disconnected", None)


def test_saying_no_to_a_new_connection_leaves_the_present_one(link: Link, hers: Person) -> None:
    hers.connect(link("seats_aero"), "seats_aero")
    onward = hers.go(link("seats_aero")).headers["location"]
    hers.get(came_back(onward, "seats_aero", error="access_denied", code=""))
    assert row().state == "connected"


@pytest.mark.parametrize(("kind", "reason"), [("html", "upstream_blocked"), ("broken", "http_503")])
def test_a_provider_that_fails_at_the_exchange_is_said_in_our_words(
    link: Link, hers: Person, outside: Outside, kind: str, reason: str
) -> None:
    outside.says["seats"] = kind
    page = hers.connect(link("seats_aero"), "seats_aero")
    assert page.status_code == 502
    assert "moment" not in page.text
    assert (row().state, row().last_error) == ("disconnected", reason)


def test_a_form_of_another_site_is_refused(link: Link, hers: Person) -> None:
    secret = dict(parse_qsl(urlsplit(link("seats_aero")).query))["link"]
    headers = {"cookie": "award=alice-1", "origin": "https://evil.example"}
    sent = {"link": secret, "way": "page"}
    answer = hers.pages.post("/integrations/seats_aero/connect", data=sent, headers=headers)
    assert answer.status_code == 403


def test_the_web_host_away_is_said_so_and_nothing_is_used_up(link: Link, hers: Person, outside: Outside) -> None:
    url = link("seats_aero")
    outside.says["web"] = "away"
    assert hers.get(url).status_code == 503
    outside.says.clear()
    assert hers.go(url).status_code == 303


def test_an_address_awardwallet_names_elsewhere_is_not_followed(link: Link, hers: Person, outside: Outside) -> None:
    outside.says["awardwallet-url"] = "https://evil.example"
    assert hers.go(link("awardwallet")).status_code == 502


def test_tripits_token_of_another_request_is_refused(link: Link, hers: Person, outside: Outside) -> None:
    back = came_back(hers.go(link("tripit")).headers["location"], "tripit")
    assert hers.get(back.replace("oauth_token=tripit-request", "oauth_token=other")).status_code == 502
    assert outside.count("/tripit/oauth/access_token") == 0


@pytest.mark.parametrize(
    "pasted",
    [
        "hello",
        "http://169.254.169.254/feed/ical/private/x/tripit.ics",
        "webcal://www.tripit.com.evil.example/feed/ical/private/x/tripit.ics",
        "webcal://user@127.0.0.1/feed/ical/private/x/tripit.ics",
        "https://www.tripit.com/feed/ical/private/../../account",
        "file:///etc/passwd",
        "BEGIN:VCALENDAR\nnonsense",
    ],
)
def test_a_pasted_address_elsewhere_is_refused_and_the_link_stays_good(link: Link, hers: Person, pasted: str) -> None:
    url = link("tripit")
    page = hers.go(url, way="paste", pasted=pasted)
    assert page.status_code == 422
    assert "neither" in page.text
    field = page.text[page.text.index("<textarea") : page.text.index("</textarea>")]
    assert 'aria-describedby="pasted-help pasted-fault" aria-invalid="true"' in field
    assert html.unescape(field).endswith(">\n" + pasted)
    assert "_integration" not in page.text
    assert row().connected_at is None
    assert hers.get(url).status_code == 200


def test_a_private_calendar_is_read_once_and_sealed(link: Link, hers: Person, outside: Outside) -> None:
    outside.calendar = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nEND:VCALENDAR\r\n"
    address = f"{outside.base}/tripitweb{FEED}".replace("http://", "webcal://")
    assert hers.go(link("tripit"), way="paste", pasted=address).status_code == 200
    kept = row()
    assert kept.state == "connected"
    assert "11112222" not in str(kept.access_sealed) + str(kept.details)


def test_two_browsers_with_one_link_set_out_once(link: Link, hers: Person) -> None:
    url, told = link("seats_aero"), list[Any]()

    async def both() -> None:
        async with anyio.create_task_group() as tasks:
            for _ in range(2):
                tasks.start_soon(anyio.to_thread.run_sync, lambda: told.append(hers.go(url).status_code))

    anyio.run(both)
    assert sorted(told) == [303, 410]
