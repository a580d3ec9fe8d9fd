"""Written amounts: numbers of all countries, currency signs and codes, and the forms of bills, mails and statements."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from shared.domain.minor_units import EXPONENTS
from shared.domain.parsing.numbers import list_readings

_ALL_CODES = (
    "USD EUR GBP JPY CNY AUD CAD CHF HKD SGD NZD SEK NOK DKK MXN BRL ZAR AED SAR QAR KWD BHD OMR INR IDR THB MYR "
    "PHP KRW TWD VND CZK HUF PLN RON TRY ILS MAD EGP ARS CLP COP PEN ISK FJD MVR JOD TND BGN UYU CRC DOP "
    "XPF XOF XAF MUR SCR LKR PKR BDT NPR KES NGN TZS GHS MOP BND KHR KZT UAH RSD DZD GTQ PYG JMD TTD XCD BSD BBD PGK "
    "RUB"
)
CODES = tuple(_ALL_CODES.split())
_DOLLARS = ("USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN", "TWD", "FJD", "ARS", "CLP", "COP")
_CROWNS = ("SEK", "NOK", "DKK", "ISK")
# What a sign can mean, the likeliest first.
_SIGNS: dict[str, tuple[str, ...]] = {"$": _DOLLARS, "kr": _CROWNS, "¥": ("JPY", "CNY"), "￥": ("JPY", "CNY")} | {
    sign: (code,)
    for signs, code in {
        "us$": "USD", "c$ ca$ cdn$": "CAD", "a$ au$": "AUD", "nz$": "NZD", "s$": "SGD", "hk$": "HKD", "mx$": "MXN",
        "r$": "BRL", "nt$": "TWD", "€": "EUR", "£": "GBP", "₩": "KRW", "₹": "INR", "฿": "THB", "₺": "TRY", "₫": "VND",
        "₱": "PHP", "sfr": "CHF", "zł": "PLN", "kč": "CZK",
        "r": "ZAR", "rs": "INR", "rm": "MYR", "rp": "IDR", "fr": "CHF", "ft": "HUF", "tl": "TRY", "euro euros": "EUR",
        "₽": "RUB",
    }.items()
    for sign in signs.split()
}  # fmt: skip
_MARK = rf"(?:(?<![A-Za-z])[A-Za-z]{{1,3}}\$|[$€£¥￥₩₹฿₺₫₱₽]|(?<![A-Za-z])(?:{'|'.join(CODES)}|SFr|zł|Kč)(?![A-Za-z]))"
_THREE_CAPITALS = re.compile(r"[A-Z]{3}(?<![A-Za-z][A-Z]{3})(?![A-Za-z])")
_ANY_CODE = frozenset(CODES)
# On a bill: an amount is separate from other text, with a sign or "CR" on either side.
_ON_BILL = re.compile(
    rf"(?<![\w#*/.,:'-])(?P<open>\()?\s?(?P<before>[-+])?\s?(?P<mark>{_MARK})?\s?(?P<inner>[-+])?"
    rf"(?P<digits>\d[\d.,']*)(?![\w%/:]|\s?%)(?:\s?(?P<mark2>{_MARK})(?!\s?\d))?\s?(?P<close>\))?"
    r"\s?(?P<after>-(?!\s?\d)|(?:CR|DR|Cr|Dr|cr|dr)\b)?"
)
_SPACED = re.compile(r"(?:(?<=\s\s)|(?<=[|;\t])|(?<=[$€£]))-?\d{1,3}(?: \d{3})+(?=[.,]\d{2}(?!\d))")
_GAP = re.compile(rf"[\s|;\"]*(?:[A-Z*]|{'|'.join(CODES)})?[\s|;\",]*")
_APART = re.compile(r"(?:^|\s\s|[|;\t,])\s?$")
# In prose: an amount has its currency next to it.
DIGITS = r"\d{1,3}(?: \d{3})+(?:[.,]\d{1,2})?(?!\d)|\d[\d.,']*"
_DECIMALS = (
    r"(?=\s?\d{1,3}(?:[ ,.]?\d{3})*[.,]\d{2}(?![\d.,]))"  # tells "R 512.30" from a seat and "RM 512" from a room
)
_BEFORE = (
    r"(?<![\w.])(?:(?:CAN?|US|AU|NZ|HK|SG|MX|NT)\s\$|Rs\.?(?=\s?\d)|Rp\.?(?=\s?\d)|[Ee]uros?(?=\s?\d)|EURO(?=\s?\d)|kr\.?(?=\s?\d)"
    rf"|RM?{_DECIMALS}|S?Fr\.(?=\s?(?:\d{{1,3}}')?\d{{3}}\.\d{{2}}(?![\d.]))|TL{_DECIMALS})"
)
_BEHIND = r"(?:kr|Ft|TL|[Ee]uros?|EUROS?)(?![A-Za-z])"
_MAY_BE_PROSE_MARK = re.compile(r"R[MPsp]?\.?\s?\d|Fr\. ?\d|kr|Ft|TL|[Ee]uro|[A-Z]{2} \$")
_IN_PROSE = re.compile(
    rf"(?:(?P<mark>{_MARK}|{_BEFORE})\s?(?P<a>{DIGITS})(?:\s?(?P<code>{'|'.join(_DOLLARS)})(?![A-Za-z]))?"
    rf"|(?<![\w.,])(?P<b>{DIGITS})\s?(?P<mark2>{_MARK}|{_BEHIND})(?!\d))"  # in "0921 $604" the sign is not of 0921
)
# In a cell of a table: nothing but the amount; three letters next to it can be any code.
_MAX_PRINTED = Decimal(10) ** 12
MAX_CELL_AMOUNT = Decimal(10) ** 9  # of one line, in any currency
_PLAIN_NUMBER = re.compile(r"-?\d{1,9}(?:\.\d{1,2})?", re.ASCII)
_CELL_CLEANED = str.maketrans(
    {"\u2212": "-", "\u2013": "-", "\u2012": "-", "\u00a0": "", "\u202f": "", " ": "", "'": ""}
)
_CELL_MARK = r"(?:[A-Z]{0,3}[$£€¥₹]?|[$£€¥₹][A-Z]{0,3})"
_CELL = re.compile(
    rf"(?:[$£€¥₹](?=\())?(?P<open>\()?{_CELL_MARK}(?P<sign>[-+])?{_CELL_MARK}"
    r"(?P<number>(?=\.?\d)(?:\d{1,12}|\d{1,3}(?:,\d{2,3})*,\d{3})?(?:\.\d{1,6})?)"
    rf"{_CELL_MARK}??(?P<after>CR|DR|-|\+)?(?P<close>\))?",
    re.ASCII,
)
_LEADING_ZEROS = re.compile(r"(?<![\d.,])0+(?=\d)", re.ASCII)  # OFX files pad amounts to a fixed width
_ANY_MARK = re.compile(_MARK, re.I)
_MAY_BE_MARK = re.compile(r"[$€£¥￥₩₹฿₺₫₱₽]|[A-Z]{3}|SFr|zł|Kč")  # in every `_MARK`, and fast to look for
_DECIMAL_COMMA = re.compile(r"\d,\d{1,2}(?!\d)", re.ASCII)
_DECIMAL_POINT = re.compile(r"\.\d{1,2}(?!\d)|(?<!\d)0?\.\d|\.\d{4}", re.ASCII)
_GROUPING_POINT = re.compile(r"(?<![\d.,'])[1-9]\d{0,2}(?:\.\d{3})+(?![\d.])", re.ASCII)


@dataclass(frozen=True, slots=True)
class Amount:
    """One number of a text with the text next to it."""

    value: Decimal
    start: int
    end: int
    currencies: tuple[str, ...]  # what its sign or code can mean, the likeliest first
    signed: bool = False  # the text itself marks it as a charge or a credit
    certain: bool = True  # it has decimals, a currency or a sign: no room number or posting code

    @property
    def currency(self) -> str | None:
        """The likeliest currency."""
        return next(iter(self.currencies), None)

    def settle_currency(self, named: set[str]) -> str | None:
        """The currency, if its sign has one meaning, or the text names one of its meanings elsewhere."""
        meanings = [c for c in self.currencies if len(self.currencies) == 1 or c in named]
        return meanings[0] if len(meanings) == 1 else None


def _read_mark(mark: str | None) -> tuple[str, ...]:
    mark = re.sub(r"[\s.]", "", mark or "").lower().replace("can$", "ca$").replace("sg$", "s$")
    code = mark.removesuffix("$").upper()
    return _SIGNS.get(mark) or ((code,) if code in CODES else ())


def find_currency_codes(text: str) -> list[str]:
    """Every currency code a text names, in their order."""
    return [code for code in _THREE_CAPITALS.findall(text) if code in _ANY_CODE]


def has_three_decimals(text: str) -> bool:
    """Whether a text names a currency that is written with thousandths (ISO 4217)."""
    return any(EXPONENTS.get(code) == 3 for code in CODES if code in text)


def parse_number(digits: str, thousandths: bool = False) -> Decimal | None:
    """Decimal comma or point, thousands in any notation; None for anything else (a date, a reference).

    One group of three behind a mark is thousands, unless the paper's currency has thousandths behind its point.
    """
    readings = list_readings(digits.rstrip(".,'"))
    if not readings:
        return None
    value = readings[-1 if thousandths and "." in digits else 0]
    is_money = value == round(value, 3 if thousandths else 2) and value < _MAX_PRINTED
    return value if is_money else None


def _read_bill_amount(match: re.Match[str], thousandths: bool) -> Amount | None:
    value = parse_number(match["digits"], thousandths)
    if value is None:
        return None
    after = (match["after"] or "").lower()
    signs = (match["before"], match["inner"])
    minus = "-" in signs or after in ("-", "cr") or bool(match["open"] and match["close"])
    plus = "+" in signs or after == "dr"
    mark = match["mark"] or match["mark2"]
    certain = bool(mark) or minus or re.search(r"[.,]\d{2}$", match["digits"]) is not None
    start = match.end() - len(match.group().lstrip())
    return Amount(-value if minus else value, start, match.end(), _read_mark(mark), minus or plus, certain)


def find_amounts_at_end(text: str, thousandths: bool = False) -> list[Amount]:
    """The amounts at the end of a line, from left to right; other numbers in the text are ignored."""
    text = _SPACED.sub(lambda m: m.group().replace(" ", "'"), text)
    run: list[Amount] = []
    end = len(text)
    for match in reversed(list(_ON_BILL.finditer(text))):
        if not _GAP.fullmatch(text, match.end(), end):
            break
        amount = _read_bill_amount(match, thousandths)
        if amount is None or not (amount.certain or _APART.search(text, max(0, amount.start - 3), amount.start)):
            break
        run.insert(0, amount)
        end = match.start()
    return run


def first_amount(text: str) -> Decimal | None:
    """The first number with decimals or a currency in a text."""
    for match in _ON_BILL.finditer(text):
        if (amount := _read_bill_amount(match, False)) and amount.certain:
            return abs(amount.value)
    return None


def find_amounts(text: str) -> Iterator[Amount]:
    """Every number with a currency next to it."""
    if not _MAY_BE_MARK.search(text) and not _MAY_BE_PROSE_MARK.search(text):
        return
    for match in _IN_PROSE.finditer(text):
        if (value := parse_number(match["a"] or match["b"])) is not None:
            mark = match["code"] or match["mark"] or match["mark2"]
            is_last = match["a"] is not None and match["code"] is None
            comma = len(match["a"]) - len(match["a"].rstrip(".,'")) if is_last else 0  # of the sentence around it
            yield Amount(value, match.start(), match.end() - comma, _read_mark(mark))


def parse_amount(text: str, comma: bool = False) -> Decimal | None:
    """A cell that is an amount: a minus on either side, brackets and CR make it negative. `comma`: 1.234,56.

    The value is exact, with up to six decimals; callers that add amounts round the sum."""
    text = text.strip()
    if not comma and _PLAIN_NUMBER.fullmatch(text):
        return Decimal(text) + 0  # turns -0.00 into 0
    if not text or len(text) > 40:
        return None
    text = text.upper().translate(_CELL_CLEANED)
    text = text.translate({ord("."): ",", ord(","): "."}) if comma else text
    match = _CELL.fullmatch(_LEADING_ZEROS.sub("", text))
    if match is None or bool(match["open"]) != bool(match["close"]):
        return None
    value = Decimal(match["number"].replace(",", ""))
    minus = match["sign"] == "-" or match["after"] in ("CR", "-") or bool(match["open"])
    return None if value >= MAX_CELL_AMOUNT else -value + 0 if minus else value


def uses_decimal_comma(cells: Iterable[str], thousandths: bool = False) -> bool:
    """Whether these amounts are written 1.234,56, or all without decimals 1.234 (unless those are thousandths)."""
    commas = points = groups = 0
    for cell in cells:
        commas += bool(_DECIMAL_COMMA.search(cell))
        points += bool(_DECIMAL_POINT.search(cell))
        groups += bool(_GROUPING_POINT.search(cell))
    return commas > points or (groups > 0 and not points and not thousandths)


def find_common_currency(cells: Iterable[str]) -> str | None:
    """The one currency these amounts are written in; a dollar can be any country's."""
    marks = {mark.lower() for cell in cells if not _PLAIN_NUMBER.fullmatch(cell) for mark in _ANY_MARK.findall(cell)}
    currencies = {meanings[0] for mark in marks if len(meanings := _read_mark(mark)) == 1}
    return currencies.pop() if len(currencies) == 1 else None
