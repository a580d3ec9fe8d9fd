"""What a confirmation says was paid: points, money and taxes; None where the mail does not say."""

import re
from decimal import Decimal

from shared.domain.confirmations.model import MailPrice, TravelFacts
from shared.domain.parsing.amounts import DIGITS, find_amounts, find_currency_codes, parse_number
from shared.domain.parsing.text import fold

_UNIT = r"(?:avios|points?|pts|miles|meilen|punkten?|puntos|millas|milhas|pontos|miglia|punti|mijlen|punten|poang)"
_POINTS = re.compile(rf"(?<![\w.,$€£¥])({DIGITS})\s?((?:[a-z][a-z+&'.-]*\s){{0,4}}?){_UNIT}\b")
_DONE = r"(?:redeemed|used|spent|paid|total|required|cost|deducted|utilises|canjeados|usados|eingelost)"
_UNITS_FIRST = re.compile(
    rf"((?:[a-z+&'-]+\s){{0,3}}?{_UNIT})(?:(?:\s{_DONE})+(?:\s?[:\t])?|\s?[:\t])\s?({DIGITS})(?![\d/:-])"
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


_Money = tuple[Decimal, str | None]  # None: the sign is one several currencies share


def parse_plain_number(text: str) -> Decimal | None:
    """A number alone, or with a currency beside it."""
    digits = re.sub(r"[^\d.,' ]", "", text[:40]).strip()
    if not digits or not digits[0].isdigit():
        return None
    if re.fullmatch(r"\d{1,12}\.\d{1,6}", digits):  # machine-written number: the point is a decimal point
        return Decimal(digits).quantize(Decimal("0.01"))
    return parse_number(digits)


def find_price(text: str, world: TravelFacts) -> MailPrice:
    """What a whole letter says was paid: points spent, and the total or the taxes in money."""
    price, named = MailPrice(), set(find_currency_codes(text))
    price.award = bool(_AWARD.search(fold(text)))
    lines = text.split("\n")
    _read_points(price, lines, world)
    totals: list[_Money] = []
    taxes: list[_Money] = []
    for line in lines:
        small = fold(line)
        amounts = [(a.value, a.settle_currency(named)) for a in find_amounts(line[:500])]
        if not amounts:
            continue
        spent = _find_spent_points(small)
        if spent is not None:
            taxes += amounts if len(amounts) == 1 and not taxes else []
        elif _TAXES.search(small) and not _GIVEN.search(small) and not re.search(r"\bper\b", small):
            taxes.append(amounts[-1])
        if _TOTAL.search(small) and not _PARTIAL.search(small) and spent is None:
            totals.append(amounts[-1])
    _set_money(price, set(totals), set(taxes))
    return price


def _set_money(price: MailPrice, totals: set[_Money], taxes: set[_Money]) -> None:
    """Sets the total and the taxes where all lines agree; contradicting totals are left out."""
    total, tax = (next(iter(s)) if len(s) == 1 else (None, None) for s in (totals, taxes))
    if total[1]:
        price.cash, price.currency = total
    if tax[1]:
        price.taxes, price.taxes_currency = tax
    elif price.points is not None and price.cash is not None:
        price.taxes, price.taxes_currency = price.cash, price.currency


def _find_spent_points(small: str) -> tuple[int, str] | None:
    """Points a line says were spent, and the words before their unit; what is given or merely held is not."""
    if _GIVEN.search(small):
        return None
    match = _POINTS.search(small)
    digits, words = (match[1], match[0]) if match else (None, "")
    if match is None and (match := _UNITS_FIRST.search(small)):
        digits, words = match[2], match[1]
    if digits is None:
        return None
    if not (_SPENT.search(small) or _PLUS.search(small) or small.lstrip().startswith(digits)):
        return None
    value = parse_number(digits)
    return (int(value), words) if value is not None and value == int(value) and value >= 100 else None


def _read_points(price: MailPrice, lines: list[str], world: TravelFacts) -> None:
    """The points of the line that speaks of the total, else of all lines when they agree."""
    spent = [(points, fold(line)) for line in lines if (points := _find_spent_points(fold(line[:500])))]
    counted = [points for points, small in spent if "total" in small] or [points for points, _ in spent]
    values = {value for value, _ in counted}
    if len(values) != 1:
        return
    price.points, price.award = values.pop(), True
    for _, words in counted:
        price.program = price.program or _find_program(words, world)


def _find_program(words: str, world: TravelFacts) -> str | None:
    """The programme whose points these are: "60,000 aeroplan points", "avios"."""
    text = re.sub(r"[\d.,']+", " ", words).strip()
    bare = re.sub(rf"\b{_UNIT}$", "", text).strip() if not text.endswith("avios") else text
    return world.program(text) or (world.program(bare) if bare else None)
