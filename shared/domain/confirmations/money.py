"""Amounts and points as mails state them: text goes in; what was paid comes out, None where the text does not say."""

import re
from dataclasses import dataclass
from decimal import Decimal

from shared.domain.confirmations.letters import fold
from shared.domain.confirmations.model import Price, World
from shared.domain.parsing.amounts import CODES, number

_SIGNS = {
    "US$": "USD", "A$": "AUD", "AU$": "AUD", "C$": "CAD", "CA$": "CAD", "NZ$": "NZD", "HK$": "HKD", "S$": "SGD",
    "R$": "BRL", "MX$": "MXN", "NT$": "TWD", "€": "EUR", "£": "GBP", "₩": "KRW", "₹": "INR", "฿": "THB", "₺": "TRY",
    "zł": "PLN",
}  # fmt: skip
_SHARED = {"$": ("USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN", "TWD"), "¥": ("JPY", "CNY"), "￥": ("JPY", "CNY")}
_MARK = rf"(?:(?:US|AU?|CA?|NZ|HK|S|R|MX|NT)\$|[$€£¥￥₩₹฿₺]|zł|(?<![A-Za-z])(?:{'|'.join(CODES)})(?![A-Za-z]))"
_DIGITS = r"\d{1,3}(?: \d{3})+(?:[.,]\d{1,2})?(?!\d)|\d[\d.,']*"
_AMOUNT = re.compile(
    rf"(?:(?P<before>{_MARK})\s?(?P<a>{_DIGITS})(?:\s?(?P<code>USD|CAD|AUD|NZD|SGD|HKD)(?![A-Za-z]))?"
    rf"|(?<![\w.,])(?P<b>{_DIGITS})\s?(?P<after>{_MARK}))"
)
_UNIT = r"(?:avios|points?|pts|miles|meilen|punkten?|puntos|millas|milhas|pontos|miglia|punti|mijlen|punten|poang)"
_POINTS = re.compile(rf"(?<![\w.,$€£¥])({_DIGITS})\s?((?:[a-z][a-z+&'.-]*\s){{0,4}}?){_UNIT}\b")
_DONE = r"(?:redeemed|used|spent|paid|total|required|cost|deducted|utilises|canjeados|usados|eingelost)"
_UNITS_FIRST = re.compile(
    rf"((?:[a-z+&'-]+\s){{0,3}}?{_UNIT})(?:(?:\s{_DONE})+(?:\s?[:\t])?|\s?[:\t])\s?({_DIGITS})(?![\d/:-])"
)
_PLUS = re.compile(r"\+\s*\S{0,4}\d")
_GIVEN = re.compile(
    r"\b(?:earn\w*|collect\w*|balance|remaining|available|you have|gagn\w*|sammel\w*|gesammelt"
    r"|gutgeschrieben|accru\w*|acumul\w*"
    r"|bonus|up to|jusqu'a|bis zu|hasta|from \d|ab \d|desde|a partir|save|win|tier|status|qualifying"
    r"|credited|per night|per person"
    r"|pro nacht|par nuit|each way|guadagn\w*|ganh\w*|refund\w*)\b"
)
_SPENT = re.compile(
    r"redeem|\bused\b|\bspent\b|total|award|reward|free night|deduct|eingelost|utilis|canje|utiliz"
    r"|resgat|riscatt|pramie|praemie"
    r"|\bprime\b|premio|premium de|\bcost\b|\bpaid\b|price|bezahlt|pay[eé]|pagad|\bfare\b|payment"
)
_TOTAL = re.compile(
    r"(?:grand |trip |booking |reservation |stay |order )?total(?!\w)|amount (?:paid|charged"
    r"|due)|total(?:e|es)?\b|gesamt(?:preis|betrag|summe)?\b"
    r"|montant|prix|importe|precio|preco|prezzo|totaal|you paid|price paid|we charged|totalbetrag"
    r"|endpreis|合計|総額|总额|总计|합계|summe\b|price(?= ?[:\t])|fare(?= ?[:\t])"
)
_PARTIAL = re.compile(
    r"\bper\b|each|subtotal|sub-total|\bpro\b|\bpar\b|\bpor\b|\btax|\bfees?\b|surcharge|deposit"
    r"|nightly|average|base fare|airfare|saving|discount"
    r"|refund|balance|credit|insurance|seat|bag|earn|steuer|gebuhr|impuest|taxas?\b|tasse|anzahlung|zwischensumme"
)
_TAXES = re.compile(
    r"tax(?:es)?\b|fees?\b|surcharge|carrier charge|steuer|gebuhr|zuschlag|impuest|tasas|taxas?\b"
    r"|tasse|belasting|co-?pay"
)
_AWARD = re.compile(
    r"\baward (?:ticket|flight|travel|night|stay|booking|reservation)|reward (?:flight|booking"
    r"|night|seat)|free night|points? stay|pramienflug|billet prime|vuelo premio"
)


@dataclass(frozen=True)
class Amount:
    value: Decimal
    currency: str | None  # None: the sign is one several currencies share
    start: int
    end: int


def plain_number(text: str) -> Decimal | None:
    """A number alone, or with a currency beside it."""
    digits = re.sub(r"[^\d.,' ]", "", text[:40]).strip().replace(" ", "'")
    if not digits or not digits[0].isdigit():
        return None
    if re.fullmatch(r"\d{1,12}\.\d{1,6}", digits):  # data, not print: the point is one
        return Decimal(digits).quantize(Decimal("0.01"))
    return number(digits)


def amounts(text: str) -> list[Amount]:
    """Every number with a currency beside it."""
    return [made for found in _AMOUNT.finditer(text) if (made := _amount(found))]


def first(text: str) -> Amount | None:
    return next(iter(amounts(text)), None)


def _amount(found: re.Match[str]) -> Amount | None:
    value = number((found["a"] or found["b"]).rstrip(".,'").replace(" ", "'"))
    if value is None:
        return None
    mark = found["code"] or found["before"] or found["after"]
    return Amount(value, mark if mark in CODES else _SIGNS.get(mark), found.start(), found.end())


def stated(texts: str) -> dict[str, str]:
    """What signs that currencies share stand for in this mail, where it names one of those currencies only."""
    named = {code for code in CODES if re.search(rf"(?<![A-Za-z]){code}(?![A-Za-z])", texts)}
    return {sign: fits[0] for sign, codes in _SHARED.items() if len(fits := [c for c in codes if c in named]) == 1}


def price_in(text: str, world: World) -> Price:
    """What a whole letter says was paid: points spent, and the total or the taxes in money."""
    price, signs = Price(), stated(text)
    folded = fold(text)
    price.award = bool(_AWARD.search(folded))
    lines = text.split("\n")
    _points(price, lines, world)
    totals: list[Amount] = []
    taxes: list[Amount] = []
    for line in lines:
        small = fold(line)
        found = [_certain(a, line, signs) for a in amounts(line[:500])]
        if not found:
            continue
        if _spent_points(small) is not None:
            taxes += found[:1] if len(found) == 1 and not taxes else []
        elif _TAXES.search(small) and not _GIVEN.search(small) and not re.search(r"\bper\b", small):
            taxes.append(found[-1])
        if _TOTAL.search(small) and not _PARTIAL.search(small) and _spent_points(small) is None:
            totals.append(found[-1])
    _settle(price, totals, taxes)
    return price


def _certain(amount: Amount, line: str, signs: dict[str, str]) -> Amount:
    if amount.currency is not None:
        return amount
    sign = next((s for s in signs if s in line[amount.start : amount.end]), "")
    return Amount(amount.value, signs.get(sign), amount.start, amount.end)


def _settle(price: Price, totals: list[Amount], taxes: list[Amount]) -> None:
    """One total, or nothing: totals that differ are not weighed against each other."""
    distinct = {(a.value, a.currency) for a in totals}
    if len(distinct) == 1 and totals[0].currency:
        price.cash, price.currency = totals[0].value, totals[0].currency
    owed = {(a.value, a.currency) for a in taxes}
    if len(owed) == 1 and taxes[0].currency:
        price.taxes, price.taxes_currency = taxes[0].value, taxes[0].currency
    elif price.points is not None and price.cash is not None:
        price.taxes, price.taxes_currency = price.cash, price.currency


def _spent_points(small: str) -> tuple[int, str] | None:
    """Points a line says were spent, and the words before their unit; what is given or merely held is not."""
    if _GIVEN.search(small):
        return None
    found = _POINTS.search(small)
    digits, words = (found[1], found[0]) if found else (None, "")
    if found is None and (other := _UNITS_FIRST.search(small)):
        digits, words = other[2], other[1]
    if digits is None:
        return None
    if not (_SPENT.search(small) or _PLUS.search(small) or small.lstrip().startswith(digits)):
        return None
    value = number(digits.replace(" ", "'").rstrip(".,'"))
    return (int(value), words) if value is not None and value == int(value) and value >= 100 else None


def _points(price: Price, lines: list[str], world: World) -> None:
    """The points of the line that speaks of the total, else of all lines when they agree."""
    spent = [(made, fold(line)) for line in lines if (made := _spent_points(fold(line[:500])))]
    chosen = [s for s, small in spent if "total" in small] or [s for s, _ in spent]
    values = {value for value, _ in chosen}
    if len(values) != 1:
        return
    price.points, price.award = values.pop(), True
    for _, words in chosen:
        price.program = price.program or _named(words, world)


def _named(words: str, world: World) -> str | None:
    """The programme whose points these are: "60,000 aeroplan points", "avios"."""
    text = re.sub(r"[\d.,']+", " ", words).strip()
    bare = re.sub(rf"\b{_UNIT}$", "", text).strip() if not text.endswith("avios") else text
    return world.program(text) or (world.program(bare) if bare else None)
