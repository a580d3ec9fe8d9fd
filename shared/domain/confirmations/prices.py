"""What a confirmation says was paid: points, money and taxes; None where the mail does not say."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from shared.domain.confirmations import price_words as words
from shared.domain.confirmations.model import Doubt, MailPrice, TravelFacts
from shared.domain.confirmations.other_letters import is_of_extra
from shared.domain.parsing.amounts import CODES, DIGITS, find_amounts, find_currency_codes, parse_number
from shared.domain.parsing.dates import DATE, NAMED_DATE
from shared.domain.parsing.text import fold

# Amounts in the lines and tables of a letter, each with the words that belong to it.

_MAX_CHARACTERS = 500
_HEADING_LINES = 3  # lines above an amount that may say what it is
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}  # the ASCII signs of East Asian type
_WIDE = re.compile("[！-～]+")
_YEN_OR_WON = re.compile(r"(?<=\d)\s?([円원])")
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
            line = _WIDE.sub(lambda run: run[0].translate(_FULL_WIDTH), line)
            line = _YEN_OR_WON.sub(lambda mark: " JPY" if mark[1] == "円" else " KRW", line).strip()
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
    codes = {*find_currency_codes(text), *({"JPY"} if "円" in text else ())}
    others = {mark for mark in "$€£₩₹" if mark in text}
    if len(codes) != 1 or others:
        return None
    code = codes.pop()
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
    money_spans = [(m.start, m.end) for m in money]
    for pattern, digits, unit in ((_NUMBER_FIRST, 1, 2), (_UNIT_FIRST, 3, 1)):
        for match in pattern.finditer(small):
            start, end = match.span(digits) if unit == 2 else match.span()
            if any(s < end and start < e for s, e in money_spans):
                continue
            value = parse_number(match[digits])
            if value is None or (1990 <= value <= 2099 and len(match[digits]) == 4):  # a year
                continue
            money_spans.append(match.span())
            words_between = match[2] if unit == 1 else ""
            yield replace(Mention(value, match[unit].strip(), (), *match.span()), label=words_between.strip(" :=\t"))


def _add_words(mention: Mention, before: str, after: str, last: Mention | None) -> Mention:
    """Words up to the end of the sentence; an amount joined to the last one by "+" or "and" shares its words."""
    is_joined = last is not None and bool(_JOINTS.fullmatch(before))
    sentence = [p for p in _STOPS.split(before) if p.strip()]
    own = _PRICED.split(sentence[-1])[-1] if sentence else ""  # words behind an amount without a currency
    own = _OF_LAST.sub("", own) if last else own
    label = last.label if is_joined and last else own
    plus = is_joined and bool(_PLUS.search(before))
    plain = NAMED_DATE.sub(" ", DATE.sub(" ", label))
    return replace(
        mention,
        label=f"{plain} {mention.label}".strip(),
        after=_AFTER.split(after, maxsplit=1)[0].strip(),
        dated=plain != label or (is_joined and last is not None and last.dated),
        beside_points=plus and last is not None and bool(last.unit) and not mention.unit,
        beside_money=bool(mention.unit) and (plus or bool(re.match(r"\s*\+\s*\S{0,4}\d", after))),
    )


# Where there is more money than this for each point, the points may be earned with it and not spent.
_MOST_MONEY_PER_POINT = Decimal("0.06")  # US dollars
_MOST_TAXES_PER_POINT = Decimal("0.01")  # surcharges of the dearest awards; points of banks pay from here
_HIGHEST_DISTANCE = 10_000  # miles: no flight is longer, and few awards cost such a sum that is not round
_MOST_UNITS = 4  # ways of naming the points that are looked up
_VALUE_ADDED_TAX = re.compile(r"\b(?:vat|gst|mwst|ust|tva|iva|btw|moms|mva|kdv)\b|ндс|消費税|税")
Money = tuple[Decimal, tuple[str, ...]]


def parse_plain_number(text: str) -> Decimal | None:
    """A number alone, or with a currency next to it."""
    digits = re.sub(r"[^\d.,' ]", "", text[:40]).strip()
    if not digits or not digits[0].isdigit():
        return None
    if re.fullmatch(r"\d{1,12}\.\d{1,6}", digits):  # machine-written number: the point is a decimal point
        return Decimal(digits).quantize(Decimal("0.01"))
    return parse_number(digits)


@dataclass
class _Statements:
    """The amounts of a letter by what they are, the surest words first."""

    points: tuple[list[Mention], list[Mention], list[Mention]]  # a total, said to be spent, a unit and a number alone
    nightly: list[int]
    per_person: list[Mention]
    totals: tuple[list[Mention], list[Mention], list[Mention]]
    taxes: tuple[list[Mention], ...]  # a total next to points, next to points, the total of taxes, any tax
    vouchers: list[Mention]
    fares: list[Mention] = field(default_factory=list)  # taxes included
    nightly_money: list[Mention] = field(default_factory=list)  # next to the points of a night
    money: int = 0  # amounts of it in the letter
    extras: list[Mention] = field(default_factory=list)  # amounts of what is sold besides a flight or a room
    extra_taxes: list[Mention] = field(default_factory=list)  # value added tax, which is on extras and on few fares


def find_price(text: str, world: TravelFacts) -> MailPrice:
    """What a whole letter says was paid: points spent, and the total or the taxes in money.

    What is said in two ways is left out and put into `doubts`.
    """
    folded = fold(text)
    price = MailPrice(award=bool(words.AWARD.search(folded)), both=bool(words.BOTH.search(folded)))
    lines = list_price_lines(text)
    statements = _Statements(([], [], []), [], [], ([], [], []), ([], [], [], []), [])
    for line, heading in lines:
        for mention in find_mentions(line):
            (_sort_points if mention.unit else _sort_money)(statements, mention, heading)
            statements.money += not mention.unit
            statements.fares += [mention] if _is_whole_fare(mention) else []
            statements.extras += [mention] if not mention.unit and is_of_extra(mention.label) else []
            statements.extra_taxes += [mention] if _VALUE_ADDED_TAX.search(mention.label) else []
    _set_points(price, statements, world)
    _set_money(price, statements, _find_named_currencies(text, folded), world)
    _check_plausibility(price, world, is_said=any((*statements.points[:2], *statements.taxes)))
    return price


def _find_named_currencies(text: str, folded: str) -> set[str]:
    """Codes, names ("All prices are shown in US dollars"), and what the country of the seller or the language says."""
    codes = set(find_currency_codes(text))
    if "dollar" in folded:
        codes |= {code for code, name in words.DOLLARS.items() if name.search(folded)}
    if not any(code in codes for code in words.DOLLARS) and words.AMERICAN_SELLER.search(folded):
        codes.add("USD")
    if "CNY" not in codes and "元" not in text and words.KANA.search(text):
        codes.add("JPY")
    return codes


def _sort_points(statements: _Statements, mention: Mention, heading: str) -> None:
    own = mention.words
    if mention.value < 100 or mention.value != int(mention.value) or words.NOT_SPENT.search(own):
        return
    if words.PER_ONE.search(own):
        statements.per_person.append(mention)
    elif words.PER_NIGHT.search(own) or _is_night(mention):
        statements.nightly.append(int(mention.value))
    elif words.TOTAL.search(mention.label) or words.WHOLE.search(own):
        statements.points[0].append(mention)
    elif words.SPENT.search(words.AWARD_UNIT.sub(" ", own)) or mention.beside_money:
        statements.points[1].append(mention)
    elif mention.alone and not words.NOT_SPENT.search(heading) and not _may_be_distance(mention):
        statements.points[2].append(mention)


def _is_night(mention: Mention) -> bool:
    """A label that is a day or a night's number and nothing more."""
    rest = words.WEEKDAY_OR_NIGHT.sub(" ", mention.label)
    return bool(mention.dated or rest != mention.label) and not re.search(r"[a-z]{4,}", rest)


def _may_be_distance(mention: Mention) -> bool:
    value = int(mention.value)
    return value < _HIGHEST_DISTANCE and value % 250 != 0 and bool(words.MILES_UNIT.search(mention.unit))


def _sort_money(statements: _Statements, mention: Mention, heading: str) -> None:
    label, own = mention.label, mention.words
    total = words.TOTAL.search(label)
    if words.VOUCHER.search(label) and words.APPLIED.search(own):
        statements.vouchers.append(mention)
    if words.PER_ONE.search(own) or words.PER_NIGHT.search(own):
        return
    if mention.beside_points and not words.NOT_SPENT.search(label):
        _sort_beside_points(statements, mention)
        return
    if _is_tax(mention):
        if not words.NOT_TOTAL.search(label) and not words.NO_TAX.search(label):
            statements.taxes[2 if total else 3].append(mention)
        return
    on_the_spot = words.ON_THE_SPOT.search(own) and not total
    if on_the_spot or words.NOT_TOTAL.search(own) or words.NOT_TOTAL.search(heading):
        return
    if words.PAID.search(label) or words.PAID.search(mention.after):
        statements.totals[0].append(mention)
    elif total:
        statements.totals[1].append(mention)
    elif words.SOME_TOTAL.search(label):
        statements.totals[2].append(mention)


def _sort_beside_points(statements: _Statements, mention: Mention) -> None:
    if mention.dated and _is_night(mention):
        statements.nightly_money.append(mention)
    else:
        statements.taxes[0 if words.TOTAL.search(mention.label) else 1].append(mention)


def _is_whole_fare(mention: Mention) -> bool:
    """Whether an amount is called the fare with its taxes, of no one traveller."""
    if mention.unit or not words.FARE.search(mention.label) or words.PER_ONE.search(mention.words):
        return False
    return bool(words.INCLUDING.search(mention.words))


def _is_tax(mention: Mention) -> bool:
    """Whether an amount is that of taxes, and no price that includes them."""
    label, after = mention.label, mention.after
    if not words.TAXES.search(label) and not words.TAXES.search(after):
        return False
    if words.INCLUDING.search(mention.words) and (words.TOTAL.search(label) or words.PAID.search(label)):
        return False
    if (price := words.SOME_TOTAL.search(label)) and words.INCLUDING.match(label[price.end() :].lstrip(" (,:")):
        return False
    is_price = words.SOME_TOTAL.search(label) or words.FARE.search(label)
    return not (is_price and words.INCLUDING.search(after) and not words.TAXES.search(label))


def _set_points(price: MailPrice, statements: _Statements, world: TravelFacts) -> None:
    """The points of the surest words; a smaller sum elsewhere may be a part of it, a larger one is a contradiction."""
    price.nightly_points = statements.nightly
    surest = next((mentions for mentions in statements.points if mentions), [])
    values = sorted({int(m.value) for mentions in statements.points for m in mentions})
    if not surest:
        _note_per_person(price, statements.per_person)
        return
    if len({m.value for m in surest}) > 1 or surest[0].value < values[-1]:
        price.doubts.append(Doubt("kind", "The letter names several sums of points.", tuple(values)))
        return
    price.points, price.award = int(surest[0].value), True
    price.repeated = len(surest) > 1 and surest is not statements.points[0]
    price.per_person = [int(m.value) for m in statements.per_person if m.value != surest[0].value]
    units = list(dict.fromkeys(m.unit for m in surest))[:_MOST_UNITS]
    price.program = next((p for unit in units if (p := _find_program(unit, world))), None)
    names = {word for m in surest for text in (m.unit, m.after) for word in text.split()[:_MOST_UNITS]}
    price.outside = price.program is None and any(map(world.is_outside, names))


def _note_per_person(price: MailPrice, mentions: Sequence[Mention]) -> None:
    price.per_person = sorted({int(m.value) for m in mentions})


def _find_program(unit: str, world: TravelFacts) -> str | None:
    """The programme whose points these are: "60,000 aeroplan points", "avios"."""
    text = re.sub(r"[^\w&+' -]+", " ", unit).strip()
    bare = re.sub(rf"\s(?:{words.UNIT})$", "", text).strip()
    return world.program(text) or (world.program(bare) if bare and bare != text else None)


def _set_money(price: MailPrice, statements: _Statements, named: set[str], world: TravelFacts) -> None:
    total = _choose_total(price, statements, named)
    if total is not None:
        price.of_extra = _is_of_extras(total[0], statements)
        price.cash, price.currencies = total
        price.currency = price.currencies[0] if len(price.currencies) == 1 else None
    if price.points is None and not price.award:
        return
    taxes = _choose_taxes(price, statements, named, total, world)
    if taxes is not None:
        price.taxes, price.tax_currencies = taxes
        price.taxes_currency = price.tax_currencies[0] if len(price.tax_currencies) == 1 else None


def _is_of_extras(total: Decimal, statements: _Statements) -> bool:
    """Whether what was paid is the sum of extras, as on the receipt of a seat or of a change."""
    extras = {(m.label, m.value): m.value for m in statements.extras}
    taxes = sum((m.value for m in statements.extra_taxes), Decimal(0))
    whole = sum(extras.values(), Decimal(0))
    return bool(whole) and total in (whole, whole + taxes, *extras.values())


def _settle(mention: Mention, named: set[str]) -> Money:
    """The amount, and the currencies its sign can stand for in this letter."""
    fitting = tuple(c for c in mention.currencies if c in named)
    return mention.value, fitting if len(fitting) == 1 else mention.currencies


def _list_values(mentions: Iterable[Mention], named: set[str]) -> list[Money]:
    return sorted({_settle(m, named) for m in mentions})


def _choose_total(price: MailPrice, statements: _Statements, named: set[str]) -> Money | None:
    """The total of the surest words. Two of them, or a larger one in less sure words, contradict each other."""
    taxed = any(statements.taxes)
    whole = all(words.PART.search(m.label) for mentions in statements.taxes for m in mentions)
    beside = [m for m in statements.totals[2] if "fare" in m.label or (words.TICKET.search(m.label) and not whole)]
    apart = [m for m in statements.totals[2] if not (taxed and m in beside)]  # next to it stand the taxes
    tiers = [_list_values(mentions, named) for mentions in (*statements.totals[:2], apart)]
    tiers[2] = [] if taxed and (tiers[0] or tiers[1]) else tiers[2]
    surest = next((values for values in tiers if values), [])
    if not surest:
        price.of_ticket = len(statements.fares) == statements.money == 1
        return _settle(statements.fares[0], named) if price.of_ticket else None
    price.of_ticket = surest is tiers[2] and any(words.TICKET.search(m.label) for m in apart)
    others = [v for values in tiers[:2] for v in values if v[0] > surest[0][0] or v[1] != surest[0][1]]
    if len(surest) > 1 or others or (statements.vouchers and price.points is None):
        values = dict.fromkeys([*surest, *others, *_list_values(statements.vouchers, named)])
        price.doubts.append(Doubt("cash", "The letter names several totals.", tuple(map(_format_money, values))))
        return None
    return surest[0]


def _choose_taxes(
    price: MailPrice, statements: _Statements, named: set[str], total: Money | None, world: TravelFacts
) -> Money | None:
    """What was paid in money next to the points: the total of money is that too, as points are not part of it."""
    tiers = [_list_values(mentions, named) for mentions in statements.taxes]
    surest = next((values for values in tiers if values), [])
    if tiers[0] and any(value > tiers[0][0][0] for value, _ in tiers[1]):
        surest = sorted({*tiers[0], *tiers[1]})
    if len(surest) > 1:
        whole = sum((value for value, _ in surest), Decimal(0))
        if total is not None and (total[0] == whole or total in surest):
            return total
    if len(surest) == 1 and (total is None or total == surest[0]):
        return surest[0]
    if not surest and total is None and statements.nightly_money:
        surest = _list_values(statements.nightly_money, named)
        price.doubts.append(_doubt_taxes(surest))
        return None
    if not surest or total is None:
        if surest:
            price.doubts.append(_doubt_taxes(surest))
        elif total is not None and price.points and _is_price_of_points(total, price.points, world):
            values = (f"{price.points:,} points", _format_money(total))
            price.doubts.append(Doubt("taxes_paid", "The total may be the price that the points paid.", values))
            return None
        return total
    price.doubts.append(_doubt_taxes([*surest, total]))
    return None


def _is_price_of_points(total: Money, points: int, world: TravelFacts) -> bool:
    """Whether a total is so high for the points that they may have paid it, as those of a bank do."""
    dollars = world.dollars(total[0], total[1][0])
    return dollars is not None and dollars / points > _MOST_TAXES_PER_POINT


def _doubt_taxes(values: Iterable[Money]) -> Doubt:
    reason = "The letter names several amounts of money next to the points."
    return Doubt("taxes_paid", reason, tuple(map(_format_money, dict.fromkeys(values))))


def _format_money(money: Money) -> str:
    value, currencies = money
    return f"{value:,.2f} {currencies[0] if len(currencies) == 1 else ''}".strip()


def _check_plausibility(price: MailPrice, world: TravelFacts, is_said: bool) -> None:
    """Much money for few points: the points may be earned, or part of a price paid in both.

    Where no rate of the currency is known, only words tell: `is_said`, that they were spent or that money is taxes.
    """
    has_taxes = price.taxes is not None
    money, currencies = (price.taxes, price.tax_currencies) if has_taxes else (price.cash, price.currencies)
    if price.points is None or money is None or price.both:
        return
    dollars = world.dollars(money, currencies[0]) if currencies else None
    if not is_said if dollars is None else dollars / price.points > _MOST_MONEY_PER_POINT:
        values = (f"{price.points:,} points", _format_money((money, currencies)))
        price.doubts = [d for d in price.doubts if d.field != "taxes_paid"]
        price.doubts.append(Doubt("kind", "The letter names points and a price in money.", values))
        price.points, price.award, price.taxes = None, False, None
