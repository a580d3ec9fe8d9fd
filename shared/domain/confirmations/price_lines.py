"""Amounts in the lines and tables of a letter, each with the words that belong to it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from shared.domain.confirmations import price_words as words
from shared.domain.parsing.amounts import CODES, DIGITS, find_amounts, find_currency_codes, parse_number
from shared.domain.parsing.dates import DATE, NAMED_DATE
from shared.domain.parsing.text import fold

_MAX_CHARACTERS = 500
_HEADING_LINES = 3  # lines above an amount that may say what it is
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}  # the ASCII signs of East Asian type
_WIDE = re.compile("[！-～]+")
_YEN = re.compile(r"(?<=\d)\s?円")
_CODE_APART = re.compile(rf"\(?(?<![A-Za-z])({'|'.join(CODES)})\)?\s?[:=]?\s{{0,12}}(?=\d)")
_COUNTRIES = {"CA": "CAD", "CAN": "CAD", "US": "USD", "AU": "AUD", "NZ": "NZD", "HK": "HKD", "SG": "SGD"}
_SIGN_FIRST = re.compile(r"\$ ?(CAN?|US|AU|NZ|HK|SG)(?![A-Za-z$])")  # "96,38 $ CA"
_SIGN_APART = re.compile(r"(?<![A-Za-z])(CAN?|US|AU|NZ|HK|SG) \$ ?(?=\d)")  # "CA $96.38"
_CAPITALS = re.compile(r"[A-Z]{3}")
_VALUE = re.compile(
    rf"\W*(?:[A-Z]{{3}}|[A-Z]{{0,3}}\s?[$€£¥₩₹฿₺₫₱]|Rs?\.?|R[MP]|kr\.?|S?Fr\.)?\s?(?:{DIGITS})\s?(?:[A-Z]{{3}}|[$€£¥₩₹฿₺₫₱]|zł|Kč|Ft|TL|kr\.?|euros?|{words.UNIT})?\W*"
    rf"|[-\s]*",
    re.I,
)
_CURRENCY = rf"(?:[$€£¥₩₹]|(?:{'|'.join(map(str.lower, CODES))})\b)"
_NUMBER_FIRST = re.compile(
    rf"(?<![\w.,$€£¥])({DIGITS})(?! ?{_CURRENCY}) ?((?:[a-z][a-z+&'.-]* ){{0,4}}?(?:{words.UNIT}))"
)
_UNIT_FIRST = re.compile(
    rf"((?:[a-z+&'-]+ ){{0,3}}?(?:{words.UNIT}))((?: [a-z]+){{0,3}}?数?[ )]?(?:\s*[:=\t]\s*|\s+))({DIGITS})"
    r"(?![\d/:-]|[.,]?\d)"
)
_ANY_UNIT = re.compile(words.UNIT.removeprefix("[a-z]*"))  # at the end of a word is enough, and fast to look for
_UNIT_LABEL = re.compile(rf"(?:[\w&+'-]+ ){{0,3}}?(?:{words.UNIT})(?: [\w&+'-]+){{0,2}}\s*[:=]?\s*")
_PRICED = re.compile(r"\d[.,]\d{2}(?!\d)")
_STOPS = re.compile(r"(?<!incl)(?<!inkl)(?<!\bca)(?<!\bn[or])(?<!\b\d)(?<!\b\d\d)[.;!?|](?:\s|$)|\t")
_OF_LAST = re.compile(rf"^\s*(?:{words.PER_NIGHT.pattern}|{words.PER_ONE.pattern})[^,;]{{0,20}},")
_AFTER = re.compile(r"[.;!?|\t,](?:\s|$)|\t|\s(?:and|und|et|y|e|en|plus)\s|\+|\((?!税込)")
_JOINTS = re.compile(r"[\s:=+&(),*-]*(?:\b(?:and|und|et|y|e|en|plus|および)\b)?[\s:=+&(),*-]*")
_DIGIT = re.compile(r"\d")
_BARE = re.compile(r"(?<![\w.,'/:-])(?:\d{1,3}(?:[ .,']\d{3})*|\d{1,6})[.,]\d{2}$")
_BARE_YEN = re.compile(r"(?<![\w.,'/:-])\d{1,3}(?:,\d{3})+$")
# A heading or a sentence that says the currency of amounts that stand without one: "Betrag EUR", "All amounts in GBP".
_COLUMN = re.compile(
    r"\b(?:betrag|betrage|preise?|amounts?|prices?|totals?|montants?|prix|importes?|precios?|importi|importo|prezzo"
    r"|prezzi|valor(?:es)?|precos?|bedrag(?:en)?|prijs|prijzen|currency|wahrung|devise|moneda|divisa|valuta|moeda"
    rf"|fares?|金額|料金|通貨)\W{{0,3}}(?:(?:are|shown|is|sind|alle|sont|en|in|em|all|is in) ){{0,3}}"
    rf"\W?({'|'.join(CODES)}|円)\b",
    re.I,
)
_MAY_STATE_TOTAL = (words.TOTAL, words.PAID, words.TAXES)
_PLUS = re.compile(r"[+&]|\b(?:and|und|et|y|e|en|plus)\b|および")


@dataclass(frozen=True)
class Mention:
    """One amount. `unit` is empty for money; else the folded words of the unit, with the programme before it."""

    value: Decimal
    unit: str
    currencies: tuple[str, ...]
    start: int
    end: int
    label: str = ""  # the folded words before it
    after: str = ""
    beside_points: bool = False  # money named in one breath with points
    beside_money: bool = False
    dated: bool = False  # its label holds a day

    @property
    def words(self) -> str:
        return f"{self.label} {self.unit} {self.after}"

    @property
    def alone(self) -> bool:
        """No words next to it but the unit and its programme; both may stand on its left too: "Pontos Azul: 12.400"."""
        bare = not re.search(r"\w", self.label) or bool(_UNIT_LABEL.fullmatch(self.label))
        return bare and not re.search(r"\w", self.after)


def list_price_lines(text: str) -> Iterator[tuple[str, str]]:
    """Lines that hold a number, each with its label, and the folded lines above it.

    A cell under a heading, and a value on the line below its label, are put on one line with it.
    """
    above: list[str] = []
    last: list[str] = []
    currency = _find_column_currency(text)
    for raw in text.split("\n"):
        line = raw[:_MAX_CHARACTERS].strip()
        if not line:
            continue
        if not line.isascii():
            line = _YEN.sub(" JPY", _WIDE.sub(lambda run: run[0].translate(_FULL_WIDTH), line)).strip()
        if not _DIGIT.search(line):
            above, last = [*above, fold(line)][-_HEADING_LINES:], [cell.strip() for cell in line.split("\t")]
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        heading = " ".join(above[-_HEADING_LINES:])
        for joined in _join_labels(cells, last):
            if _DIGIT.search(joined):
                joined = _add_currency(joined, currency) if currency else joined
                joined = _write_codes(joined) if "$" in joined else joined
                yield _CODE_APART.sub(r"\1 ", joined) if _CAPITALS.search(joined) else joined, heading
        above, last = [], cells


def _write_codes(line: str) -> str:
    """Dollars with the code of their country for the country and the sign."""
    line = _SIGN_APART.sub(lambda m: f"{_COUNTRIES[m[1]]} ", line)
    return _SIGN_FIRST.sub(lambda m: _COUNTRIES[m[1]], line)


def _find_column_currency(text: str) -> str | None:
    """The currency a heading without amounts names, where the letter names no other."""
    named = {*find_currency_codes(text), *({"JPY"} if "円" in text else ())}
    others = {mark for mark in "$€£₩₹" if mark in text}
    if len(named) != 1 or others:
        return None
    code = named.pop()
    for line in text.split("\n"):
        if (code in line or "円" in line) and not _DIGIT.search(line) and _COLUMN.search(fold(line[:_MAX_CHARACTERS])):
            return str(code)
    return None


def _add_currency(line: str, currency: str) -> str:
    """A total or a tax without a currency, with that of its column."""
    if not (_BARE_YEN if currency == "JPY" else _BARE).search(line) or any(find_amounts(line)):
        return line
    small = fold(line)
    return f"{line} {currency}" if any(pattern.search(small) for pattern in _MAY_STATE_TOTAL) else line


def _join_labels(cells: list[str], last: list[str]) -> list[str]:
    """The line or row in pieces of one label each."""
    values = [bool(_VALUE.fullmatch(cell)) for cell in cells]
    labels_above = bool(last) and not any(_DIGIT.search(cell) for cell in last)
    if all(values) and labels_above and len(last) == len(cells):
        return [f"{label}: {cell}" for label, cell in zip(last, cells, strict=True)]
    if len(cells) > 2 and len(cells) % 2 == 0 and values == [False, True] * (len(cells) // 2):
        return [f"{label}: {cell}" for label, cell in zip(cells[::2], cells[1::2], strict=True)]
    return ["\t".join(cells)]


def find_mentions(line: str) -> list[Mention]:
    """The amounts of one line from left to right, each with the words next to it."""
    small = fold(line)
    mentions = [Mention(a.value, "", a.currencies, a.start, a.end) for a in find_amounts(line) if a.currencies]
    mentions = sorted([*mentions, *_find_points(small, mentions)], key=lambda m: m.start)
    out: list[Mention] = []
    for at, mention in enumerate(mentions):
        end = mentions[at + 1].start if at + 1 < len(mentions) else len(small)
        before = small[mentions[at - 1].end if at else 0 : mention.start]
        out.append(_add_words(mention, before, small[mention.end : end], out[-1] if out else None))
    return out


def _find_points(small: str, money: list[Mention]) -> Iterator[Mention]:
    if not _ANY_UNIT.search(small):  # most lines have none, and the patterns below are slow to find that out
        return
    taken = [(m.start, m.end) for m in money]
    for pattern, digits, unit in ((_NUMBER_FIRST, 1, 2), (_UNIT_FIRST, 3, 1)):
        for match in pattern.finditer(small):
            start, end = match.span(digits) if unit == 2 else match.span()
            if any(s < end and start < e for s, e in taken):
                continue
            value = parse_number(match[digits])
            if value is None or (1990 <= value <= 2099 and len(match[digits]) == 4):  # a year
                continue
            taken.append(match.span())
            words_between = match[2] if unit == 1 else ""
            yield replace(Mention(value, match[unit].strip(), (), *match.span()), label=words_between.strip(" :=\t"))


def _add_words(mention: Mention, before: str, after: str, last: Mention | None) -> Mention:
    """Words up to the end of the sentence; an amount joined to the last one by "+" or "and" shares its words."""
    joined = last is not None and bool(_JOINTS.fullmatch(before))
    sentence = [p for p in _STOPS.split(before) if p.strip()]
    own = _PRICED.split(sentence[-1])[-1] if sentence else ""  # words behind an amount without a currency
    own = _OF_LAST.sub("", own) if last else own
    label = last.label if joined and last else own
    plus = joined and bool(_PLUS.search(before))
    plain = NAMED_DATE.sub(" ", DATE.sub(" ", label))
    return replace(
        mention,
        label=f"{plain} {mention.label}".strip(),
        after=_AFTER.split(after, maxsplit=1)[0].strip(),
        dated=plain != label or (joined and last is not None and last.dated),
        beside_points=plus and last is not None and bool(last.unit) and not mention.unit,
        beside_money=bool(mention.unit) and (plus or bool(re.match(r"\s*\+\s*\S{0,4}\d", after))),
    )
