"""Reader of a bill in any layout: its lines with kinds and signs, its currency, and the sums it prints."""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from itertools import pairwise

from shared.domain.folio.kinds import Namer
from shared.domain.folio.model import TOLERANCE, ZERO, Bill, FolioLine, PrintedSum, Rulebook
from shared.domain.folio.settle import settle_bill
from shared.domain.folio.stay import is_abroad
from shared.domain.folio.sums import Sum, adds_up, classify_sum
from shared.domain.folio.text import split_lines
from shared.domain.parsing.amounts import CODES, Amount, find_amounts_at_end, find_currency_codes, has_three_decimals
from shared.domain.parsing.dates import DATE, SHORT_DATE, WrittenDate, choose_order, find_dates, read_date
from shared.domain.parsing.text import fold

# Postings, printed sums and header lines of a bill, as its lines state them.

# Columns of a bill's table, from its heading: which amount of a line was posted, and as what.

_WORDS = {
    "charge": r"charges?|debits?|belastung(?:en)?|soll|cargos?|addebit[oi]|dare|debitos?",
    "credit": r"credits?|gutschrift(?:en)?|haben|abonos?|accredit[oi]|avere|creditos?|credito|payments?|zahlungen",
    "amount": r"amount|betrag|montant|importe|importo|valor|total(?:e)?|gesamt|preis|price|prix|bedrag|totaal",
    "balance": r"(?:running )?balance|saldo|solde",
    "other": r"qty|quantity|menge|anzahl|qte|unit(?: price)?|einzelpreis|prix unitaire|rate|"
    r"mwst|vat|tax|tva|iva|net|netto",
    "text": r"description|item|text|details?|particulars|beschreibung|leistung|bezeichnung|libelle|designation|"
    r"omschrijving|descripcion|concepto|descrizione|descricao|transaction|service|reference|code|ref",
    "date": r"date|datum|fecha|data|jour",
}
_WORD = re.compile("|".join(rf"(?P<{name}>\b(?:{words})\b)" for name, words in _WORDS.items()))
_MONEY = ("charge", "credit", "amount", "balance")
_BARS = ("|", "\t", ";")


@dataclass(frozen=True, slots=True)
class Column:
    means: str
    start: int
    end: int
    cell: int


@dataclass(frozen=True, slots=True)
class Table:
    columns: Sequence[Column]
    bar: str | None

    def means(self, amount: Amount, line: str) -> str:
        """The column an amount stands in: by its cell, or by the nearest heading."""
        if self.bar and self.bar in line:
            cell = line.count(self.bar, 0, amount.end - 1)
            return next((c.means for c in self.columns if c.cell == cell), "amount")
        return min(self.columns, key=lambda c: _measure_distance(c, amount)).means

    def meanings(self, amounts: Sequence[Amount], line: str) -> list[str]:
        """The meanings of as many amounts as headings stand in their order, even where the text lost its columns."""
        headed = [c.means for c in self.columns if c.means in (*_MONEY, "other")]
        if len(amounts) == len(headed) > 1 and not (self.bar and self.bar in line):
            return headed
        return [self.means(a, line) for a in amounts]

    @property
    def two_sided(self) -> bool:
        return {"charge", "credit"} <= {c.means for c in self.columns}


def _measure_distance(column: Column, amount: Amount) -> int:
    if column.means not in (*_MONEY, "other"):
        return 10_000
    if column.start < amount.end and amount.start < column.end:
        return 0
    return min(abs(column.end - amount.end), abs(column.start - amount.start))


def read_heading(folded: str) -> Table | None:
    """The table a line announces; None when the line is no heading."""
    if re.search(r"\d[.,]\d\d\b|\d{4}|:", folded) or len(folded) < 8:
        return None
    bar = next((b for b in _BARS if b in folded), None)
    if bar is None and "  " not in folded.strip():
        return None  # runs of spaces were collapsed, so positions of columns are lost
    columns = [
        Column(m.lastgroup or "", m.start(), m.end(), folded.count(bar, 0, m.start()) if bar else 0)
        for m in _WORD.finditer(folded)
    ]
    means = {c.means for c in columns}
    if not means & {"charge", "credit", "amount"} or not means & {"text", "date"} or len(columns) > 12:
        return None
    return Table(columns, bar)


def find_posted(amounts: Sequence[Amount], table: Table | None, line: str) -> tuple[Amount, str] | None:
    """The amount of a line that was posted, and the meaning of its column ("" without a table)."""
    if not amounts:
        return None
    if table is None:
        return amounts[-1], ""
    placed = list(zip(amounts, table.meanings(amounts, line), strict=True))
    money = [p for p in placed if p[1] in ("charge", "credit", "amount")]
    return next((p for p in reversed(money) if p[0].value), None) or (money or [(amounts[-1], "")])[-1]


POINTS = re.compile(
    r"(\d[\d.,' ]*\d|\d)\s*(?:(?:reward|honors|bonvoy|ihg|hyatt|bonus)\s+)?"
    r"(?:pts|points?|punkte|punti|puntos|pontos)\b"
)
_CODED = re.compile(r"^(?:\d{2,6}|[A-Z]{1,3}\d{2,5})(?=\s\s|\s*[|;\t])")
_COMPACT = re.compile(r"\s*(20\d{2})(\d{2})(\d{2})(?=[\s|;,])")
_BEFORE_DATE = re.compile(
    r"[\s|;\"]*(?:\d{1,3}(?:[.)]\s|\s{2,}|[|;]))?[\s|;\"]*"
    r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+)?"
)
# The first cell of a row of a CSV file: a heading or the name of a sum without a number, or a day. In "Total 1,225.00"
# the comma stands inside the amount.
_CSV = re.compile(
    r"[\s\"]*(?:(?:date|datum|fecha|data|total|balance|saldo|solde)[^,\d]{0,20}"
    r"|\d{1,4}([./-])\d{1,2}\1\d{1,4}[\s\"]*|\d{1,2}[/-]\d{1,2}\"?|\d{1,2}[ -]?[a-z]{3,9}\.?[ -]?\d{2,4}[\s\"]*|\"?),"
)
TO_PROGRAMS = re.compile(
    r"\b(ignore|disregard|forget|override)\b.{0,40}\b(instruction|rule|previous|above|finding|prompt)|"
    r"\b(assistant(?! manager)|chatbot|language model|llm|system prompt|ai (model|agent)|as an ai)\b|"
    r"\b(note|message|attention|instructions?) (to|for) (the |any )?(ai|model|bot|auditor)\b|<\|?[a-z_]+\|?>"
)
# Currencies without a smaller unit in use (ISO 4217), whose amounts have no decimals to be known by.
_WHOLE_UNITS = re.compile(r"[¥￥₩₫]|\b(?:JPY|KRW|VND|IDR|CLP|ISK|HUF)\b|[\u3040-\u30ff]|税|合計")
_LAST_NUMBER = re.compile(r"(?<=[^\s\d|;,#*.:/-]) (?=-?(?:\d{1,3}(?:[,.]\d{3})+|\d{2,7}|0)\s*-?\s*$)")
_CARD_DIGITS = re.compile(r"[x*#]{2,}\s*\d{4}\s*$|\b(?:room|zi\.?|zimmer|no\.?|nr\.?|check|chk)\s*#?\s*\d+\s*$")
_AFTER_WORD = re.compile(r"(?<=[^\W\d_:]) (?=[-+(]?\d)|(?<=:) (?=[-+(]?\d)")
# 1 225,00: one, two or three digits and groups of three, parted by one blank.
SPACED = re.compile(r"(?<![\d.,/:])(?<!\d-)(\d{1,3})((?: \d{3})+)(?=[.,]\d{2}(?!\d))")
# The same after a currency or a minus, where nothing else can be meant.
_MARKED = re.compile(
    rf"((?:\b(?:{'|'.join(CODES)})|[$€£])\s?-?\s?|(?<=\s)-\s?)(\d{{1,3}})((?: \d{{3}})+)(?=[.,]\d{{2}}(?!\d))"
)


@dataclass(slots=True)
class Posting:
    day: WrittenDate | None
    text: str
    amount: Amount | None
    column: str
    amounts: Sequence[Amount]
    points: int | None
    row: int  # how many postings came before


@dataclass(slots=True)
class ReaderState:
    """State of the reader while it goes through the lines."""

    undated: bool  # no line of the bill begins with a date
    spaced: bool  # groups of thousands are parted by blanks
    whole_units: bool
    postings: list[Posting] = field(default_factory=list)
    header: list[str] = field(default_factory=list)
    sums: list[PrintedSum] = field(default_factory=list)
    unread: int = 0
    table: Table | None = None
    day: WrittenDate | None = None
    ended: bool = False
    money_heading: str | None = None  # the one currency the heading of the table names


def read_page(text: str, spaced: bool) -> ReaderState:
    """Lines that begin with a date are postings; where there are none, every line with an amount is one."""
    page = _read_lines(text, undated=False, spaced=spaced)
    return page if page.postings else _read_lines(text, undated=True, spaced=spaced)


def _read_lines(text: str, undated: bool, spaced: bool) -> ReaderState:
    page = ReaderState(undated, spaced, _WHOLE_UNITS.search(text) is not None)
    thousandths = has_three_decimals(text)
    for line in split_lines(text):
        if line.strip():
            _read_line(page, line, thousandths)
    return page


def _find_date_at_start(folded: str) -> tuple[WrittenDate, int] | None:
    """The date a line begins with, and where it ends. A span of two dates is the stay, not a posting."""
    before = _BEFORE_DATE.match(folded)
    start = before.end() if before else 0
    for begin in (start, 0) if start else (0,):
        if match := DATE.match(folded, begin) or SHORT_DATE.match(folded, begin):
            if re.match(r"\s*(?:-|to|until|bis|au|al|a|ate)\s*\d", folded[match.end() :]):
                return None
            return read_date(match), match.end()
        if compact := _COMPACT.match(folded, begin):
            year, month, day = map(int, compact.groups())
            return WrittenDate(year, month, day, ""), compact.end()
    return None


def _find_points(folded: str) -> int | None:
    match = POINTS.search(folded)
    digits = re.sub(r"\D", "", match.group(1)) if match else ""
    return int(digits) if 0 < len(digits) <= 9 else None


def _find_description(line: str, start: int, end: int) -> str:
    """What stands between the date and the amounts, without a posting code and second dates."""
    text = line[start:end].strip(' |;\t,"')
    text = _CODED.sub("", text).strip(' |;\t,"')
    if second := DATE.match(fold(text)):
        text = _CODED.sub("", text[second.end() :].strip(" |;\t,")).strip(" |;\t,")
    text = re.sub(rf"[\s|;]+(?:{'|'.join(CODES)})$", "", text)
    return " ".join(re.sub(r"[|;\t]", " ", text).split())[:80].strip()


def _keep_sum(page: ReaderState, line: str, kind: Sum, amounts: Sequence[Amount]) -> None:
    """Keeps what the bill prints as balance and totals, with the postings that stand before."""
    if not amounts:
        return
    last = amounts[-1]
    codes = find_currency_codes(line)
    currencies = last.currencies or ((codes[0],) if codes else ())
    at = len(page.postings)
    if kind == "total" and len(amounts) == 2 and (page.table is None or page.table.two_sided):
        page.sums.append(PrintedSum("totals", (amounts[0].value, abs(amounts[1].value)), at, currencies))
    elif kind != "part":
        page.sums.append(PrintedSum(kind, (last.value,), at, currencies))
    page.ended = page.ended or kind != "part"


def _part_amount(page: ReaderState, rest: str, is_sum: bool) -> str:
    """Makes an amount stand apart from the words before it, where one blank is all that parts them."""
    if is_sum:
        rest = SPACED.sub(lambda m: m[1] + m[2].replace(" ", "'"), rest)
        return _AFTER_WORD.sub("  ", rest, count=1)
    rest = _MARKED.sub(lambda m: m[1] + m[2] + m[3].replace(" ", "'"), rest)
    if page.spaced:
        rest = SPACED.sub(lambda m: m[1] + m[2].replace(" ", "'"), rest)
    if page.whole_units and not _CARD_DIGITS.search(fold(rest)):
        rest = _LAST_NUMBER.sub("  ", rest)
    return rest


def _read_line(page: ReaderState, line: str, thousandths: bool) -> None:
    """One line: a heading, a sum, a posting, or words about the stay."""
    folded = fold(line)
    if _CSV.match(folded) and "  " not in folded and not any(bar in folded for bar in "|;\t"):
        line = "|".join(next(csv.reader([line])))
        folded = fold(line)
    at = _find_date_at_start(folded)
    if at is None and (table := read_heading(folded)):
        page.table = table
        codes = set(find_currency_codes(line))
        page.money_heading = codes.pop() if len(codes) == 1 else None
        return
    start = at[1] if at else 0
    kind = classify_sum(folded[start:])
    line = line[:start] + _part_amount(page, line[start:], kind is not None)
    folded = fold(line)
    amounts = find_amounts_at_end(" " * start + line[start:], thousandths)
    if kind:
        _keep_sum(page, line, kind, amounts)
    elif at and (amounts or _find_points(folded[start:])):
        _add_posting(page, at[0], line, start, amounts)
    elif at:
        _keep_date(page, at[0], line, start)
    elif (
        amounts and (page.postings or page.table or page.undated) and not page.ended and not TO_PROGRAMS.search(folded)
    ):
        _add_posting(page, None, line, 0, amounts)
    else:
        page.header.append(folded)


def _keep_date(page: ReaderState, day: WrittenDate, line: str, start: int) -> None:
    """A date by itself stands above the postings of that day; with other words the line could not be read."""
    if re.search(r"[^\W\d_]", line[start:]):
        page.header.append(fold(line))
        page.unread += 1
    else:
        page.day = day


def _add_posting(page: ReaderState, day: WrittenDate | None, line: str, start: int, amounts: Sequence[Amount]) -> None:
    one = find_posted(amounts, page.table, line)
    end = amounts[0].start if amounts else len(line)
    text = _find_description(line, start, end)
    if not re.search(r"[^\W\d_]", text):
        page.unread += 1
        return
    if day is not None:
        page.day = day
    amount, column = one or (None, "")
    points = _find_points(fold(line)[start:])
    page.postings.append(Posting(day or page.day, text, amount, column, amounts, points, len(page.postings)))


# Currency and country of a bill: by codes, signs, headings and the hotel's address; None where they leave it open.

# Countries whose hotels bill in the country's own money, where its sign is shared with others (ISO 3166, ISO 4217).
_OWN_MONEY = {
    "US": "USD", "PR": "USD", "GU": "USD", "VI": "USD", "CA": "CAD", "AU": "AUD", "NZ": "NZD", "SG": "SGD",
    "HK": "HKD", "TW": "TWD", "FJ": "FJD", "JP": "JPY", "CN": "CNY",
}  # fmt: skip
_STATES = (
    "al ak az ar ca co ct de fl ga hi id il in ia ks ky la me md ma mi mn ms mo mt ne nv nh nj nm ny nc nd oh ok or pa "
    "ri sc sd tn tx ut vt va wa wv wi wy dc"
)
_ZIP = re.compile(rf"\b(?:{'|'.join(_STATES.split())})\.?,? \d{{5}}(?:-\d{{4}})?\b")
_READING_WORD = re.compile(r"[^\W\d_]+(?:['.-][^\W\d_]+)*\.?")
_SCRIPTS = {
    "JP": re.compile(r"[\u3040-\u30ff]|日本|東京|大阪|京都|宿泊税|入湯税|消費税|税込"),
    "KR": re.compile(r"[\uac00-\ud7af]"),
    "CN": re.compile(r"人民币|中国|上海|北京"),
    "HK": re.compile(r"香港"),
    "TW": re.compile(r"台北|臺北|台灣"),
}
# Lines that name a currency other than the bill's: what was paid was converted, or is shown converted.
CONVERTED = re.compile(
    r"conver|exchange|equivalent|\bequiv|\brate (?:of )?[:=]? ?\d|@ ?\d|umrechn|kurs|gegenwert|change\b|contre-?valeur|"
    r"cambio|contravalor|equivalente|换算|換算|為替|\bapprox|\bdcc\b|card currency|home currency|on request"
)
_STATED = re.compile(
    r"\b(?:currency(?: code)?|wahrung|devise|moneda|divisa|valuta|通貨)\s*[:=]\s*([a-z]{3})\b|"
    r"\b(?:amounts|prices|charges|rates|betrage|preise|montants|importes)\b(?: \w+){0,3} (?:in|en) (?:\w+ )?"
    r"([a-z]{3})\b"
)
_AMERICAN_TAX = re.compile(r"\b(?:state|county)(?: \w+)? tax|\bstate & local tax|\b[a-z]{2} state tax")
_MOST_WORDS = 4  # of the name of a place


def find_country(address: Sequence[str], text: str, book: Rulebook) -> str | None:
    """The hotel's country: by its ZIP code, the one country or else city its first lines name, or the script."""
    if any(_ZIP.search(line) for line in address):
        return "US"
    names = [name for line in address for name in _list_names(line)]
    for places in (book.countries, book.cities):
        countries = {places[name] for name in names if name in places}
        if len(countries) == 1:
            return countries.pop()
        if countries:
            return None
    written = [country for country, script in _SCRIPTS.items() if script.search(text)]
    return written[0] if len(written) == 1 else None


def _list_names(line: str) -> list[str]:
    words = _READING_WORD.findall(line)[:30]
    return [
        " ".join(words[at : at + length]).rstrip(".")
        for at in range(len(words))
        for length in range(1, _MOST_WORDS + 1)
    ]


def decide_currency(page: ReaderState, text: str, country: str | None, month_first: bool) -> str | None:
    """The currency of the postings, else the one the bill states, else that of its sums, else the one code it names."""
    marks = [p.amount.currencies for p in page.postings if p.amount and p.amount.currencies]
    codes = _list_named(text)
    stated = _find_stated(text) or page.money_heading
    if 2 * len(marks) < len(page.postings) and stated:
        return stated
    if marks and 2 * len(marks) >= len(page.postings):
        return _settle_mark(Counter(marks).most_common(1)[0][0], stated, codes, text, country, month_first)
    signs = {s.currencies for s in page.sums if s.currencies}
    if len(signs) > 1:
        signs = {s.currencies for s in page.sums if s.currencies and _fits_lines(s.values, page.postings)}
    signs = signs or set(marks)
    if len(signs) == 1:
        return _settle_mark(signs.pop(), stated, codes, text, country, month_first)
    return codes[0] if len(codes) == 1 and not signs else None


def _fits_lines(values: Sequence[Decimal], postings: Sequence[Posting]) -> bool:
    amounts = [p.amount.value for p in postings if p.amount]
    sums = (sum(amounts), sum(a for a in amounts if a > 0))
    return any(abs(abs(value) - s) <= Decimal("0.02") for value in values for s in sums)


def _settle_mark(
    meanings: tuple[str, ...], stated: str | None, named: Sequence[str], text: str, country: str | None, american: bool
) -> str | None:
    """What a sign stands for: its one meaning, or the one the bill states, names or bills in by its country."""
    if len(meanings) == 1:
        return meanings[0]
    if stated in meanings:
        return stated
    fitting = [code for code in named if code in meanings]
    if len(fitting) == 1:
        return fitting[0]
    if own := _OWN_MONEY.get(country or ""):
        return own if own in meanings else None
    if "JPY" in meanings and _SCRIPTS["JP"].search(text):
        return "JPY"
    # Only the United States and places that use its dollar write the month first in numbers or tax by state and county.
    american = american or _AMERICAN_TAX.search(fold(text)) is not None
    return "USD" if american and country is None and "USD" in meanings and not fitting else None


def _find_stated(text: str) -> str | None:
    """The currency the bill says it is in, apart from its amounts."""
    for line in text.split("\n")[:400]:
        folded = fold(line)
        if not CONVERTED.search(folded):
            for match in _STATED.finditer(folded):
                code = (match[1] or match[2]).upper()
                if code in CODES:
                    return code
    return None


def _list_named(text: str) -> list[str]:
    """The codes a bill names, but where it speaks of a conversion."""
    lines = text.replace("RMB", "CNY").replace("US$", "USD").split("\n")
    return list(
        dict.fromkeys(c for line in lines if not CONVERTED.search(fold(line)) for c in find_currency_codes(line))
    )


def pick_amount(posting: Posting, currency: str | None) -> Amount | None:
    """The amount of a line that is in the bill's currency; None where all of them are in another."""
    amount = posting.amount
    if amount is None or currency is None or not amount.currencies or currency in amount.currencies:
        return amount
    return next((a for a in reversed(posting.amounts) if currency in a.currencies), None)


_LABELS = re.compile(
    r"\b(?:guest|gast|name|client|folio|room|arriv\w*|arr|check|in|invoice|rechnung|stay|rate|conf\w*|account|page)\b"
)


def _settle_columns(postings: Sequence[Posting]) -> None:
    """Two amounts a line and no heading: a running balance, or a charge and a credit of which one is zero."""
    pairs = [p for p in postings if not p.column and len(p.amounts) == 2]
    if len(pairs) < 2 or len(pairs) < len([p for p in postings if p.amount]):
        return
    steps = [(b.amounts[1].value - a.amounts[1].value, b.amounts[0].value) for a, b in pairwise(pairs)]
    if all(abs(step) == abs(value) for step, value in steps):
        first = pairs[0].amounts[1].value - pairs[0].amounts[0].value
        for posting, (step, _) in zip(pairs, [(pairs[0].amounts[1].value - first, ZERO), *steps], strict=True):
            posting.amount = replace(posting.amounts[0], value=step, signed=True)
    elif all(p.amounts[0].value == 0 or p.amounts[1].value == 0 for p in pairs):
        for posting in pairs:
            side = 0 if posting.amounts[0].value else 1
            posting.amount, posting.column = posting.amounts[side], ("charge", "credit")[side]


def _find_year(order_dates: Sequence[WrittenDate]) -> int | None:
    years = Counter(w.year for w in order_dates if w.year)
    return years.most_common(1)[0][0] if years else None


def _sign_amount(posting: Posting, credit: bool) -> tuple[Decimal, bool]:
    """The amount with the sign of its column or its own; True when nothing about it is a guess."""
    if posting.amount is None:
        return ZERO, True
    value = posting.amount.value
    if posting.column == "credit":
        return -abs(value), True
    if posting.amount.signed or posting.column == "charge":
        return value, True
    return value, not credit


def _build_line(posting: Posting, namer: Namer, day: date | None) -> FolioLine:
    folded = fold(posting.text)
    value, _ = _sign_amount(posting, False)
    charge = namer.name(folded, value)
    value, settled = _sign_amount(posting, charge.credit)
    if charge.kind == "payment" and not settled:
        value, settled = -value, True
    return FolioLine(day, posting.text, folded, value, charge.kind, charge.subject, posting.points, settled)


def read_bill(text: str, book: Rulebook) -> Bill:
    """The bill. Lines that look like postings and cannot be read are counted, never guessed.

    A blank between digits can part thousands or an amount from a number before it: the reading that adds up holds.
    """
    bill = _build_bill(read_page(text, spaced=False), text, book)
    if not SPACED.search(text):
        return bill
    other = _build_bill(read_page(text, spaced=True), text, book)
    if [x.amount for x in other.lines] == [x.amount for x in bill.lines] or (other.sums and adds_up(other)):
        return other
    return bill if bill.sums and adds_up(bill) else replace(bill, uncertain=True)


def _build_bill(page: ReaderState, text: str, book: Rulebook) -> Bill:
    _settle_columns(page.postings)
    address = [_LABELS.split(line)[0] for line in page.header[:6]]
    country = find_country(address, text, book)
    all_dates = [p.day for p in page.postings if p.day] + [w for w, _, _ in find_dates("\n".join(page.header))]
    month_first = choose_order(all_dates, american=False) == "mdy"
    currency = decide_currency(page, text, country, month_first)
    postings = _choose_currency(page, currency)
    header = "\n".join(h for h in page.header if not TO_PROGRAMS.search(h))
    order, year = choose_order(all_dates, currency in (None, "USD")), _find_year(all_dates)
    european = order == "dmy" and any(w.separator and (w.separator == "." or w.first > 12) for w in all_dates)
    namer = Namer(book.kinds, book.words, is_abroad(currency, country, header, european))
    lines = [_build_line(p, namer, p.day.day(order, year) if p.day else None) for p in postings]
    readable = [(p.row, x) for p, x in zip(postings, lines, strict=True) if x.day or x.kind != "other"]
    bill = Bill(
        lines=[x for _, x in readable],
        unread=page.unread + len(lines) - len(readable),
        foreign=len(page.postings) - len(postings),
        header=header,
        hotel="\n".join(address[:4]),
        currency=currency,
        country=country,
        sums=_place_sums(page.sums, currency, [row for row, _ in readable]),
        order=order,
        european=european,
        uncertain=False,
    )
    _name_payments(bill, namer)
    settle_bill(bill)
    return bill


def _name_payments(bill: Bill, namer: Namer) -> None:
    """A credit of no known word that pays the whole balance before it is a payment."""
    balance = ZERO
    for line in bill.lines:
        balance += line.amount
        unnamed = (line.kind, line.subject) == ("adjustment", None) and not namer.words["adjustment"].search(
            line.folded
        )
        if unnamed and line.amount < 0 and abs(balance) <= TOLERANCE:
            line.kind = "payment"


def _choose_currency(page: ReaderState, currency: str | None) -> list[Posting]:
    """Postings in the bill's currency; a line in another one is kept as words only."""
    postings = []
    for posting in page.postings:
        amount = pick_amount(posting, currency)
        if amount is None and posting.amount is not None:
            page.header.append(fold(posting.text))
        else:
            posting.amount = amount
            postings.append(posting)
    return postings


def _place_sums(sums: Sequence[PrintedSum], currency: str | None, rows: Sequence[int]) -> list[PrintedSum]:
    """The sums in the bill's currency, each after as many readable lines as stand before it."""
    own = [s for s in sums if currency is None or not s.currencies or currency in s.currencies]
    return [replace(s, at=sum(row < s.at for row in rows)) for s in own]
