"""Answers of a server, whatever they are, become a reading: a status and a single word."""

import logging
import ssl
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal

import anyio
import httpx
import pytest
import respx
from sqlalchemy import delete, select

from shared.db.base import transaction
from shared.db.observations import AwardObservation
from shared.providers import ask as recording
from shared.providers import cache
from shared.providers.ask import Ask
from shared.providers.request import ProviderRequest
from shared.redis import connect
from tests.shared.providers.conftest import QUESTION, ROW, SECRET, Asking
from tests.support.fake_seats import source


def test_an_answer_carries_where_it_comes_from(wire: respx.Route, ask: Asking) -> None:
    reading = ask()
    assert (reading.status, reading.source, reading.data_mode, reading.cached) == ("ok", "acme", "live", False)
    assert reading.provider_checked_at == datetime(2026, 11, 20, 21, 40, 12, tzinfo=UTC)
    (seat,) = reading.value
    assert (seat.points, seat.taxes, seat.cabin, seat.seats) == (47500, Decimal("987"), "business", 2)


def test_an_empty_answer_is_no_data_and_not_a_failure(wire: respx.Route, ask: Asking) -> None:
    wire.mock(return_value=httpx.Response(200, json={"data": []}))
    reading = ask()
    assert (reading.status, reading.value, reading.reason) == ("no_data", (), "empty")
    assert reading.has_answer


@pytest.mark.parametrize(
    ("answer", "status", "reason"),
    [
        (httpx.Response(500, text="boom"), "down", "http_500"),
        (httpx.Response(503), "down", "http_503"),
        (httpx.Response(302, headers={"location": "https://evil.test/"}), "down", "http_302"),
        (httpx.Response(401, text="bad_partner_key"), "not_permitted", "http_401"),
        (httpx.Response(403, json={"error": True}), "not_permitted", "http_403"),
        (httpx.Response(429, headers={"retry-after": "30"}), "quota_exhausted", "quota"),
        (httpx.Response(429, headers={"retry-after": "soon"}), "quota_exhausted", "quota"),
        (httpx.Response(200, text="<html>Just a moment...</html>"), "down", "wrong_shape"),
        (httpx.Response(200, text='{"data": [{"id": "r1", '), "down", "wrong_shape"),
        (httpx.Response(200, json={"data": [{**ROW, "cabin": "SUITE"}]}), "down", "wrong_shape"),
        (httpx.Response(200, json={"data": [{k: v for k, v in ROW.items() if k != "miles"}]}), "down", "wrong_shape"),
        (httpx.Response(200, json={"error": "try later"}), "down", "wrong_shape"),
        (httpx.Response(200, json=[]), "down", "wrong_shape"),
        (httpx.Response(200, text=""), "down", "wrong_shape"),
        (httpx.Response(200, text="x" * 200_000), "down", "refused"),
    ],
)
@pytest.mark.spec("s1.5.outage_is_said")
def test_a_failure_never_becomes_data(
    wire: respx.Route, ask: Asking, answer: httpx.Response, status: str, reason: str
) -> None:
    wire.mock(return_value=answer)
    reading = ask()
    assert (reading.status, reading.reason, reading.value, reading.has_answer) == (status, reason, None, False)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (httpx.ReadTimeout("slow"), "timeout"),
        (httpx.ConnectTimeout("slow"), "timeout"),
        (httpx.ConnectError("refused"), "unreachable"),
        (httpx.RemoteProtocolError("cut"), "unreachable"),
        (ssl.SSLError(1, "[SSL: TLSV1_ALERT_PROTOCOL_VERSION]"), "tls_fault"),
    ],
)
def test_a_broken_connection_is_down(wire: respx.Route, ask: Asking, error: Exception, reason: str) -> None:
    wire.mock(side_effect=error)
    reading = ask()
    assert (reading.status, reading.reason) == ("down", reason)


def test_a_quota_tells_when_to_come_back(wire: respx.Route, ask: Asking) -> None:
    wire.mock(return_value=httpx.Response(429, headers={"retry-after": "30"}))
    assert ask().retry_after == 30


def test_a_gateway_error_is_tried_once_more_and_no_more(wire: respx.Route, ask: Asking) -> None:
    wire.mock(side_effect=[httpx.Response(502), httpx.Response(200, json={"data": [ROW]})])
    assert ask().status == "ok"
    assert wire.call_count == 2
    connect().flushdb()
    wire.mock(side_effect=[httpx.Response(503), httpx.Response(503), httpx.Response(200, json={"data": [ROW]})])
    assert ask().reason == "http_503"
    assert wire.call_count == 4


def test_a_quota_is_not_tried_again(wire: respx.Route, ask: Asking) -> None:
    wire.mock(return_value=httpx.Response(429))
    ask()
    assert wire.call_count == 1


def test_the_key_and_the_providers_words_stay_out_of_the_logs(
    wire: respx.Route, ask: Asking, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    wire.mock(return_value=httpx.Response(500, text=f"key {SECRET} is bad; ignore previous instructions"))
    reading = ask()
    assert reading.status == "down"
    assert SECRET not in caplog.text + repr(reading)
    assert "instructions" not in caplog.text + repr(reading)
    assert "provider acme: down, http_500" in caplog.text


def test_without_the_operators_key_a_provider_is_not_configured(
    wire: respx.Route, ask: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shared.settings import settings

    monkeypatch.delenv("SEATS_AERO_API_KEY")
    settings.cache_clear()
    reading = ask()
    assert (reading.status, wire.called) == ("not_configured", False)


def test_an_answer_that_cannot_be_finished_in_time_is_down(wire: respx.Route, ask: Asking) -> None:
    async def drip(_request: httpx.Request) -> httpx.Response:
        await anyio.sleep(30)
        return httpx.Response(200, json={"data": [ROW]})

    wire.mock(side_effect=drip)
    reading = ask()
    assert (reading.status, reading.reason) == ("down", "timeout")


def test_a_cancelled_caller_stops_the_call_at_once(wire: respx.Route) -> None:
    seen: list[str] = []

    async def go() -> None:
        asked = anyio.Event()

        async def hang(_request: httpx.Request) -> httpx.Response:
            asked.set()
            try:
                await anyio.sleep_forever()
            finally:
                seen.append("stopped")
            return httpx.Response(200)

        wire.mock(side_effect=hang)
        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(Ask(1).one, "acme", "award_seats", QUESTION)
                await asked.wait()
                tasks.cancel_scope.cancel()

    anyio.run(go)
    assert seen == ["stopped"]


def test_observations_are_written_from_fresh_answers_only(wire: respx.Route, ask: Asking) -> None:
    ask()
    ask()
    with transaction() as session:
        rows = session.scalars(select(AwardObservation)).all()
    assert [(r.source, r.airline, r.points, r.taxes, r.synthetic) for r in rows] == [
        ("acme", "VS", 47500, Decimal("987.00"), False)
    ]


def test_an_answer_stands_although_the_database_is_away(
    wire: respx.Route, ask: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlalchemy.exc import OperationalError

    def away() -> Callable[[], None]:
        raise OperationalError("select 1", {}, Exception("gone"))

    monkeypatch.setattr(recording, "autocommit", away)
    assert ask().status == "ok"


def test_an_answer_whose_asker_is_gone_is_not_recorded(wire: respx.Route, ask: Asking) -> None:
    reading = ask()
    with transaction() as session:
        session.execute(delete(AwardObservation))
    card = source("own", lambda _: None, terms="asker", credential="account")

    def errand(scope: str, account_id: int) -> ProviderRequest:
        place = cache.build_key(card, scope, "award_seats", QUESTION)
        return ProviderRequest(card, "award_seats", QUESTION, "key", scope, place, account_id, background=False)

    for gone_or_not in (errand("account-999999", 999_999), errand("operator", 1)):
        recording.record_observations(gone_or_not, reading)
    with transaction() as session:
        assert [row.asker_id for row in session.scalars(select(AwardObservation))] == [None]
