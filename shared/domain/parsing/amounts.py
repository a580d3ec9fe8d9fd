"""Money as bills print it: a piece of a line goes in, signed decimals with their places and currencies come out."""

import re
from dataclasses import dataclass
from decimal import Decimal

CODES = tuple(
    re.findall(
        "[A-Z]{3}",
        "USD EUR GBP JPY CNY AUD CAD CHF HKD SGD NZD SEK NOK DKK MXN BRL ZAR AED SAR QAR KWD BHD OMR INR IDR THB MYR "
        "PHP KRW TWD VND CZK HUF PLN RON TRY ILS MAD EGP ARS CLP COP PEN ISK FJD MVR JOD TND BGN UYU CRC DOP",
    )
)
_SIGNS = {
    "$": "USD", "us$": "USD", "c$": "CAD", "ca$": "CAD", "cad$": "CAD", "cdn$": "CAD", "a$": "AUD", "au$": "AUD",
    "nz$": "NZD", "s$": "SGD", "hk$": "HKD", "mx$": "MXN", "r$": "BRL", "nt$": "TWD", "€": "EUR", "£": "GBP",
    "¥": "JPY", "￥": "JPY", "₩": "KRW", "₹": "INR", "฿": "THB", "₺": "TRY", "₫": "VND", "₱": "PHP", "sfr": "CHF",
    "zł": "PLN", "kč": "CZK",
}  # fmt: skip
_THREE = ("KWD", "BHD", "OMR", "JOD", "TND")
_MARK = rf"(?:[A-Za-z]{{0,3}}\$|[€£¥￥₩₹฿₺₫₱]|\b(?:{'|'.join(CODES)}|SFr|zł|Kč)(?![A-Za-z]))"
_TOKEN = re.compile(
    rf"(?<![\w#*/.,:'-])(?P<open>\()?\s?(?P<before>[-+])?\s?(?P<mark>{_MARK})?\s?(?P<inner>[-+])?"
    rf"(?P<digits>\d[\d.,']*)(?![\w%/:]|\s?%)(?:\s?(?P<mark2>{_MARK})(?!\s?\d))?\s?(?P<close>\))?"
    r"\s?(?P<after>-(?!\s?\d)|(?:CR|DR|Cr|Dr|cr|dr)\b)?"
)
_SPACED = re.compile(r"(?:(?<=\s\s)|(?<=[|;\t])|(?<=[$€£]))-?\d{1,3}(?: \d{3})+(?=[.,]\d{2}(?!\d))")
_GAP = re.compile(rf"[\s|;\"]*(?:[A-Z*]|{'|'.join(CODES)})?[\s|;\",]*")
_APART = re.compile(r"(?:^|\s\s|[|;\t,])\s?$")
_CODE = re.compile(rf"\b({'|'.join(CODES)})\b")
_DOLLARS = frozenset({"AUD", "CAD", "HKD", "SGD", "NZD", "MXN", "FJD", "TWD", "ARS", "CLP", "COP"})
_STATED = re.compile(
    r"\b(?:(?i:currency(?: code)?)\s*[:=]?\s*|(?i:(?:amounts|prices|charges|rates)(?: \w+){0,2} in )(?i:\w+ )?)"
    rf"({'|'.join(CODES)})\b"
)


@dataclass(frozen=True, slots=True)
class Amount:
    """One number of a line. `signed`: the bill itself says that it is a charge or a credit."""

    value: Decimal
    signed: bool
    start: int
    end: int
    currency: str | None
    certain: bool  # it has decimals, a currency or a sign: no room number or posting code


def code_in(text: str) -> str | None:
    """The first currency code a text names."""
    found = _CODE.search(text)
    return found.group(1) if found else None


def stated(text: str, sign: str | None) -> str | None:
    """What a sign several countries share stands for, where the bill says its currency apart from the amounts."""
    if sign == "JPY" and "JPY" not in text and re.search(r"\b(?:CNY|RMB)\b", text):
        return "CNY"
    if sign == "USD" and not re.search(r"\bUSD\b|\bUS\$", text) and (found := _STATED.search(text)):
        return found.group(1) if found.group(1) in _DOLLARS else None
    return None


def three_decimals(text: str) -> bool:
    return any(code in text for code in _THREE)


def number(digits: str, thousandths: bool = False) -> Decimal | None:
    """Decimal comma or point, thousands in any writing; None for what is no number (a date, a reference)."""
    digits = digits.rstrip(".,'").replace("'", "")
    marks = [c for c in digits if c in ".,"]
    if not marks:
        return Decimal(digits) if len(digits) <= 12 else None
    whole, _, rest = digits.rpartition(marks[-1])
    groups = re.split("[.,]", whole)
    if len(rest) in (1, 2) or (len(rest) == 3 and thousandths and marks[-1] == "."):
        good = len(set(marks[:-1])) <= 1 and marks[-1] not in marks[:-1]
        return _made(groups, rest) if good else None
    if len(rest) == 3 and len(set(marks)) == 1:
        return _made([*groups, rest], "")
    return None


def _made(groups: list[str], rest: str) -> Decimal | None:
    """Groups of thousands hold three digits; in India two, but the last."""
    if any(len(g) not in (2, 3) for g in groups[1:]) or (len(groups) > 1 and len(groups[-1]) != 3):
        return None
    text = "".join(groups)
    return Decimal(f"{text}.{rest or 0}") if text and len(text) <= 12 else None


def _amount(found: re.Match[str], thousandths: bool) -> Amount | None:
    value = number(found["digits"], thousandths)
    if value is None:
        return None
    after = (found["after"] or "").lower()
    minus = "-" in (found["before"], found["inner"]) or after in ("-", "cr") or bool(found["open"] and found["close"])
    plus = "+" in (found["before"], found["inner"]) or after == "dr"
    mark = found["mark"] or found["mark2"]
    currency = None if mark is None else _SIGNS.get(mark.lower(), mark.upper() if mark.upper() in CODES else None)
    certain = bool(mark) or minus or re.search(r"[.,]\d{2}$", found["digits"]) is not None
    start = found.end() - len(found.group().lstrip())
    return Amount(-value if minus else value, minus or plus, start, found.end(), currency, certain)


def amounts_at_the_end(text: str, thousandths: bool = False) -> list[Amount]:
    """The run of amounts a line ends with, from left to right; other numbers inside the text are left alone."""
    text = _SPACED.sub(lambda m: m.group().replace(" ", "'"), text)
    run: list[Amount] = []
    end = len(text)
    for found in reversed(list(_TOKEN.finditer(text))):
        if not _GAP.fullmatch(text, found.end(), end):
            break
        made = _amount(found, thousandths)
        if made is None or not (made.certain or _APART.search(text, max(0, made.start - 3), made.start)):
            break
        run.insert(0, made)
        end = found.start()
    return run


def first_amount(text: str) -> Decimal | None:
    """The first number with decimals or a currency in a text."""
    for found in _TOKEN.finditer(text):
        if (made := _amount(found, False)) and made.certain:
            return abs(made.value)
    return None
