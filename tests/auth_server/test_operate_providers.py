"""The operators' page of providers: their health, quotas and last errors, and switching one off and on."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from redis.exceptions import ConnectionError as Lost

from auth_server.pages.operate import providers
from jobs import dispatcher
from shared import clock
from shared.db.base import transaction
from shared.db.provider_cards import ProviderCard, list_cards, store_cards
from shared.db.switched_off import list_switched_off
from shared.limits import hit
from shared.provider_health import build_redis_key, mirror_switches, read_health
from shared.redis import connect
from tests.auth_server.in_process_browser import Browser
from tests.auth_server.test_dashboard import send
from tests.auth_server.test_operate import WHY, make_operator, trail

PAGE = "/operate/providers"
SEATS = ProviderCard("seats_aero", "seats_aero:operator", is_configured=True, calls_a_day=1000)
CARDS = [
    SEATS,
    ProviderCard("ecb", "ecb:anyone", is_configured=True),
    ProviderCard("rooms_aero", "rooms_aero:operator", is_configured=False, calls_a_day=1000),
]


def add_cards() -> None:
    """One of them fails since an hour, and seven of its calls are spent."""
    with transaction() as session:
        store_cards(session, CARDS)
    since = (clock.now() - timedelta(hours=1)).timestamp()
    failing = {"failures": 3, "reason": "http_500", "failing_since": since, "last_success_at": since - 60}
    connect().hset(build_redis_key(SEATS.health_name), mapping=failing)
    for _ in range(7):
        hit(SEATS.counter, 1000, providers.DAY_SECONDS)


@pytest.fixture(autouse=True)
def no_switch() -> Iterator[None]:
    yield
    mirror_switches({})
    connect().delete(build_redis_key(SEATS.health_name))


def read_line(browser: Browser, name: str) -> str:
    page = " ".join(browser.get(PAGE).text.split())
    (line,) = re.findall(rf"<b>{name}</b>(.*?)</li>", page)
    return line


def switch(browser: Browser, way: str, name: str, **fields: str) -> Any:
    path = f"{PAGE}/{way}"
    return send(browser, f"{path}?name={name}", path, **{"name": name, "reason": WHY} | fields)


def test_health_errors_and_quotas_stand_there(ann: Browser) -> None:
    make_operator(ann)
    add_cards()
    line = read_line(ann, "seats_aero")
    assert line.startswith(" degraded")
    assert "Last error: http_500, 3 in a row since" in line
    assert "Answered" in line
    assert (read_line(ann, "ecb").startswith(" live"), "No answer yet" in read_line(ann, "ecb")) == (True, True)
    assert read_line(ann, "rooms_aero").startswith(" not configured")
    page = ann.get(PAGE)
    rows = re.findall(r'rowheader" scope="row" class="w">(.*?)<.*?>7</td>\s*<td[^>]*>(.*?)<', page.text, re.DOTALL)
    assert rows == [("seats_aero", "993")]
    assert len(page.content) < 30_000


def test_the_dispatcher_says_which_providers_there_are(ann: Browser) -> None:
    make_operator(ann)
    assert "No dispatcher has said" in ann.get(PAGE).text
    dispatcher.begin()
    with transaction() as session:
        assert [card.name for card in list_cards(session)] == ["sandbox"]
    assert read_line(ann, "sandbox").startswith((" live", " degraded"))


def test_a_provider_is_switched_off_and_on_with_the_reason_in_the_trail(ann: Browser) -> None:
    make_operator(ann)
    add_cards()
    assert switch(ann, "off", "ecb").headers["location"] == f"{PAGE}?done=off"
    assert switch(ann, "off", "ecb").headers["location"] == f"{PAGE}?done=unchanged"
    assert read_line(ann, "ecb").startswith(" off since")
    dispatcher.step()
    assert read_health(["ecb:anyone"])["ecb:anyone"].is_open
    assert switch(ann, "on", "ecb").headers["location"] == f"{PAGE}?done=on"
    assert switch(ann, "on", "ecb").headers["location"] == f"{PAGE}?done=unchanged"
    actor = f"admin:{ann.public_id}"
    assert trail() == [(actor, f"providers {way}", "provider:ecb", None, WHY) for way in ("off", "on")]


@pytest.mark.parametrize("way", ["off", "on"])
def test_nothing_is_switched_without_a_reason_or_that_is_no_provider(ann: Browser, way: str) -> None:
    make_operator(ann)
    add_cards()
    assert switch(ann, way, "ecb", reason=" ").status_code == 422
    for name in ("nobody", "", "ecb:anyone"):
        assert ann.get(f"{PAGE}/{way}?name={name}").status_code == 404
    with transaction() as session:
        assert list_switched_off(session) == {}
    assert trail() == []


def test_the_page_says_so_while_redis_is_away(ann: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise Lost

    make_operator(ann)
    add_cards()
    monkeypatch.setattr(providers, "connect", refuse)
    monkeypatch.setattr("shared.redis._away_until", 0.0)
    answer = ann.get(PAGE)
    assert (answer.status_code, "Redis is down" in answer.text) == (200, True)
    monkeypatch.setattr("shared.redis._away_until", 0.0)
