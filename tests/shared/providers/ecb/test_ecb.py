"""The ECB's daily file: rates to the euro of one day."""

from datetime import date
from decimal import Decimal
from typing import Any

import anyio
import httpx
import pytest
import respx

from shared.providers.ask import Ask
from shared.providers.contract import Rate, RatesQuestion, Reading
from shared.providers.ecb import client
from tests.shared.providers.fakes import recorded

URL = "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml"
DAY = date(2026, 11, 20)


def test_rates_are_exact_and_bear_their_day() -> None:
    assert client.daily(recorded("ecb", "daily.xml")) == (
        Rate("EUR", Decimal(1), DAY),
        Rate("USD", Decimal("1.1204"), DAY),
        Rate("GBP", Decimal("0.84720"), DAY),
        Rate("JPY", Decimal("177.28"), DAY),
    )


def test_of_several_days_the_newest_counts() -> None:
    older = b"<Cube time='2026-11-19'><Cube currency='USD' rate='9.9'/></Cube>"
    body = recorded("ecb", "daily.xml").replace(b"<Cube>", b"<Cube>" + older, 1)
    assert {rate.day for rate in client.daily(body)} == {DAY}


@pytest.mark.parametrize(
    "body",
    [
        recorded("ecb", "empty.xml"),
        recorded("ecb", "daily.xml").replace(b"1.1204", b"0"),
        recorded("ecb", "daily.xml").replace(b"1.1204", b"NaN"),
        recorded("ecb", "daily.xml").replace(b"1.1204", b"-1"),
        recorded("ecb", "daily.xml").replace(b"2026-11-20", b"yesterday"),
        recorded("ecb", "daily.xml").replace(b"<gesmes:Env", b'<!DOCTYPE x [<!ENTITY a "1">]><gesmes:Env', 1),
        b"<html>down</html>",
    ],
    ids=["no rates", "zero", "nan", "negative", "no day", "doctype", "html"],
)
def test_a_file_that_cannot_be_right_is_no_answer(body: bytes) -> None:
    with pytest.raises((ValueError, ArithmeticError)):
        client.daily(body)


@pytest.mark.parametrize(
    ("currencies", "found"),
    [(("USD", "AED"), ["USD"]), (("EUR",), ["EUR"]), (("AED",), []), ((), ["EUR", "USD", "GBP", "JPY"])],
)
def test_currencies_it_does_not_have_are_absent(live: None, currencies: tuple[str, ...], found: list[str]) -> None:
    async def go() -> Reading[Any]:
        return await Ask().one("ecb", "exchange_rates", RatesQuestion(currencies))

    with respx.mock() as mocked:
        mocked.get(URL).mock(return_value=httpx.Response(200, content=recorded("ecb", "daily.xml")))
        reading = anyio.run(go)
    assert [rate.currency for rate in reading.value] == found
    assert reading.status == ("ok" if found else "no_data")
