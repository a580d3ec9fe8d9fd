"""Parser of the ECB's daily XML file; the euro itself is added with rate 1."""

from datetime import date
from decimal import Decimal

from defusedxml.ElementTree import fromstring

from shared.providers.contract import Rate

_CUBE = "{http://www.ecb.int/vocabulary/2002-08-01/eurofxref}Cube"


def daily(body: bytes) -> tuple[Rate, ...]:
    days = fromstring(body, forbid_dtd=True).findall(f".//{_CUBE}[@time]")
    newest = max(days, key=lambda cube: cube.attrib["time"])
    day = date.fromisoformat(newest.attrib["time"])
    rows = [Rate(cube.attrib["currency"], Decimal(cube.attrib["rate"]), day) for cube in newest.findall(_CUBE)]
    if not rows or not all(row.per_euro.is_finite() and row.per_euro > 0 for row in rows):
        raise ValueError("no rates in it")
    return (Rate("EUR", Decimal(1), day), *rows)
