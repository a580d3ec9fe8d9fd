"""Reader of a bill in any layout: its lines with kinds and signs, its currency, and the sums it prints."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

from shared.domain.folio.arithmetic import find_carried
from shared.domain.folio.kinds import Namer
from shared.domain.folio.model import TOLERANCE, ZERO, Bill, FolioLine, PrintedSum, Rulebook
from shared.domain.folio.page import SPACED, TO_PROGRAMS, Posting, ReaderState, read_page
from shared.domain.folio.settle import settle_bill
from shared.domain.folio.stay import is_abroad
from shared.domain.folio.sums import adds_up, find_difference
from shared.domain.parsing.amounts import CODES, Amount, find_currency_codes
from shared.domain.parsing.dates import WrittenDate, choose_order, find_dates
from shared.domain.parsing.text import fold

# Currency and country of a bill: by codes, signs, headings and the hotel's address; None if undecided.

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
# Lines that name a currency other than the bill's: the payment was converted, or is shown converted.
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
    """The currency of a sign: its one meaning, or the one the bill states, names or implies by its country."""
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
    """The codes a bill names, except in lines on a conversion."""
    lines = text.replace("RMB", "CNY").replace("US$", "USD").split("\n")
    return list(
        dict.fromkeys(c for line in lines if not CONVERTED.search(fold(line)) for c in find_currency_codes(line))
    )


def pick_amount(posting: Posting, currency: str | None) -> Amount | None:
    """The amount of a line that is in the bill's currency; None if all are in another."""
    amount = posting.amount
    if amount is None or currency is None or not amount.currencies or currency in amount.currencies:
        return amount
    return next((a for a in reversed(posting.amounts) if currency in a.currencies), None)


_LABELS = re.compile(
    r"\b(?:guest|gast|name|client|folio|room|arriv\w*|arr|check|in|invoice|rechnung|stay|rate|conf\w*|account|page)\b"
)


def _find_year(order_dates: Sequence[WrittenDate]) -> int | None:
    years = Counter(w.year for w in order_dates if w.year)
    return years.most_common(1)[0][0] if years else None


def _sign_amount(posting: Posting, credit: bool) -> tuple[Decimal, bool]:
    """The amount with the sign of its column or its own; True if nothing about it is a guess."""
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
    """Reads the bill. Lines that look like postings but cannot be read are counted, never guessed.

    A blank between digits can part thousands or an amount from a number before it: the reading that adds up wins.
    """
    bill = _choose_reading(read_page(text, spaced=False), text, book)
    if not SPACED.search(text):
        return bill
    other = _choose_reading(read_page(text, spaced=True), text, book)
    if [x.amount for x in other.lines] == [x.amount for x in bill.lines] or (other.sums and adds_up(other)):
        return other
    return bill if bill.sums and adds_up(bill) else replace(bill, uncertain=True)


def _choose_reading(page: ReaderState, text: str, book: Rulebook) -> Bill:
    """The reading whose lines add up to the printed sums; uncertain if none does and figures are left over.

    A line below a total may be a payment; one that repeats the sum before it may be carried over.
    """
    plain, rows = _build_bill(page, text, book)
    carried = frozenset(rows[at] for at in find_carried(plain.lines))
    readings = []
    for skipped in dict.fromkeys((carried, frozenset[int]())):
        for payments in ("named", "all", "none") if page.below else ("none",):
            is_plain = payments == "none" and not skipped
            bill = plain if is_plain else _build_bill(page, text, book, skipped, payments)[0]
            is_checked = payments == "none" or any(s.at == len(bill.lines) for s in bill.sums)
            if adds_up(bill) and (is_checked or (payments == "named" and bill.balance >= -TOLERANCE)):
                return bill
            readings.append(bill)
    bill = readings[-1]
    off = find_difference(bill)
    explained = any(abs(off - n * abs(x.amount)) <= TOLERANCE for x in bill.lines for n in (1, 2))
    open_figures = any(len(p.amounts) > 1 for p in page.postings) or page.passes_on
    return replace(bill, uncertain=bool(explained or open_figures or carried or len(readings) > 1))


def _build_bill(
    page: ReaderState,
    text: str,
    book: Rulebook,
    skipped: frozenset[int] = frozenset(),
    payments: str = "none",
) -> tuple[Bill, list[int]]:
    """The bill without the skipped rows, and the rows of its lines.

    `payments`: the lines below a sum that count as payments: named ones, or all with one figure.
    """
    address = [_LABELS.split(line)[0] for line in page.header[:6]]
    country = find_country(address, text, book)
    all_dates = [p.day for p in page.postings if p.day] + [w for w, _, _ in find_dates("\n".join(page.header))]
    month_first = choose_order(all_dates, american=False) == "mdy"
    currency = decide_currency(page, text, country, month_first)
    postings, words = _choose_currency(page, currency)
    words = [*page.header, *words]
    header = "\n".join(h for h in words if not TO_PROGRAMS.search(h))
    order, year = choose_order(all_dates, currency in (None, "USD")), _find_year(all_dates)
    european = order == "dmy" and any(w.separator and (w.separator == "." or w.first > 12) for w in all_dates)
    namer = Namer(book.kinds, book.words, is_abroad(currency, country, header, european))
    foreign = len(page.postings) - len(postings)
    postings = [p for p in postings if p.row not in skipped]
    lines = [_build_line(p, namer, p.day.day(order, year) if p.day else None) for p in postings]
    for posting in page.below:
        line = _build_line(posting, namer, None)
        if payments == "all" and line.kind == "other" and len(posting.amounts) == 1:
            line.amount, line.kind = -line.amount, "payment"
        if payments != "none" and line.amount < 0:
            postings.append(posting)
            lines.append(line)
        else:
            header += f"\n{posting.words}"
    readable = [(p.row, x) for p, x in zip(postings, lines, strict=True) if x.day or x.kind != "other"]
    bill = Bill(
        lines=[x for _, x in readable],
        unread=page.unread + len(lines) - len(readable),
        foreign=foreign,
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
    return bill, [row for row, _ in readable]


def _name_payments(bill: Bill, namer: Namer) -> None:
    """Treats an unknown credit that pays the whole balance before it as a payment."""
    balance = ZERO
    for line in bill.lines:
        balance += line.amount
        unnamed = (line.kind, line.subject) == ("adjustment", None) and not namer.words["adjustment"].search(
            line.folded
        )
        if unnamed and line.amount < 0 and abs(balance) <= TOLERANCE:
            line.kind = "payment"


def _choose_currency(page: ReaderState, currency: str | None) -> tuple[list[Posting], list[str]]:
    """Keeps postings in the bill's currency, and those in another only as words."""
    postings, words = [], []
    for posting in page.postings:
        amount = pick_amount(posting, currency)
        if amount is None and posting.amount is not None:
            words.append(fold(posting.text))
        else:
            posting.amount = amount
            postings.append(posting)
    return postings, words


def _place_sums(sums: Sequence[PrintedSum], currency: str | None, rows: Sequence[int]) -> list[PrintedSum]:
    """The sums in the bill's currency, each after as many readable lines as precede it."""
    own = [s for s in sums if currency is None or not s.currencies or currency in s.currencies]
    return [replace(s, at=sum(row < s.at for row in rows)) for s in own]
