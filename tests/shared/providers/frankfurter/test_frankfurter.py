"""Frankfurter's blended rates: rates to the euro with the day of each."""

from datetime import date
from decimal import Decimal
from typing import Any

import httpx
import pytest
import respx

from shared.providers.ask import Ask
from shared.providers.contract import Rate, RatesQuestion, Reading
from shared.providers.frankfurter import client
from tests.shared.providers.fakes import recorded
from tests.support.fake_seats import reading_of

URL = "https://api.frankfurter.dev/v2/rates"


def asked(answer: httpx.Response, *currencies: str) -> tuple[Reading[Any], httpx.Request]:
    with respx.mock() as mocked:
        route = mocked.get(URL).mock(return_value=answer)
        return reading_of(Ask(), "frankfurter", "exchange_rates", RatesQuestion(currencies)), route.calls.last.request


def test_each_rate_bears_its_own_day_exactly() -> None:
    assert client.parse_rates(recorded("frankfurter", "rates.json")) == (
        Rate("AED", Decimal("4.1147"), date(2026, 11, 20)),
        Rate("QAR", Decimal("4.0783"), date(2026, 11, 19)),
    )


@pytest.mark.parametrize(
    "body",
    [
        b'{"amount":1.0,"base":"EUR","date":"2026-11-20","rates":{"USD":1.12}}',
        b'[{"date":"2026-11-20","base":"USD","quote":"AED","rate":3.6725}]',
        b'[{"date":"2026-11-20","base":"EUR","quote":"AED","rate":0}]',
        b'[{"date":"2026-11-20","base":"EUR","quote":"AED"}]',
        b"<html>",
    ],
    ids=["first interface", "another base", "zero", "no rate", "html"],
)
def test_another_shape_is_no_answer(body: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        client.parse_rates(body)


def test_only_what_was_asked_for_is_asked_and_answered(live: None) -> None:
    reading, request = asked(httpx.Response(200, content=recorded("frankfurter", "unknown.json")), "AED", "QAR")
    assert dict(request.url.params) == {"base": "EUR", "quotes": "AED,QAR"}
    assert [rate.currency for rate in reading.value] == ["AED"]


@pytest.mark.parametrize("status", [404, 422])
def test_a_currency_nobody_publishes_is_no_data_and_no_outage(live: None, status: int) -> None:
    reading, _ = asked(httpx.Response(status, json={"message": "not found"}), "QQQ")
    assert (reading.status, reading.reason, reading.value) == ("no_data", "unknown_currency", ())
