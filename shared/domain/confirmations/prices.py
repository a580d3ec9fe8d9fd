"""What a confirmation says was paid: points, money and taxes; None where the mail does not say."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from shared.domain.confirmations import price_words as words
from shared.domain.confirmations.model import Doubt, MailPrice, TravelFacts
from shared.domain.confirmations.price_lines import Mention, find_mentions, list_price_lines
from shared.domain.parsing.amounts import find_currency_codes, parse_number
from shared.domain.parsing.text import fold

# Where there is more money than this for each point, the points may be earned with it and not spent.
_MOST_MONEY_PER_POINT = Decimal("0.05")
_MOST_TAXES_PER_POINT = Decimal("0.008")  # surcharges of the dearest awards; points of banks pay from 0.01
_COMPARABLE = frozenset({"USD", "EUR", "GBP", "CHF", "CAD", "AUD"})
_HIGHEST_DISTANCE = 10_000  # miles: no flight is longer, and few awards cost such a sum that is not round
_MOST_UNITS = 4  # ways of naming the points that are looked up
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


def find_price(text: str, world: TravelFacts) -> MailPrice:
    """What a whole letter says was paid: points spent, and the total or the taxes in money.

    What is said in two ways is left out and put into `doubts`.
    """
    folded = fold(text)
    price = MailPrice(award=bool(words.AWARD.search(folded)), both=bool(words.BOTH.search(folded)))
    statements = _sort_mentions(list_price_lines(text))
    _set_points(price, statements, world)
    _set_money(price, statements, _find_named_currencies(text, folded))
    _check_plausibility(price)
    return price


def _find_named_currencies(text: str, folded: str) -> set[str]:
    """Codes, names ("All prices are shown in US dollars"), and what the country of the seller or the language says."""
    named = set(find_currency_codes(text))
    if "dollar" in folded:
        named |= {code for code, name in words.DOLLARS.items() if name.search(folded)}
    if not any(code in named for code in words.DOLLARS) and words.AMERICAN_SELLER.search(folded):
        named.add("USD")
    if "CNY" not in named and "元" not in text and words.KANA.search(text):
        named.add("JPY")
    return named


def _sort_mentions(lines: Iterable[tuple[str, str]]) -> _Statements:
    statements = _Statements(([], [], []), [], [], ([], [], []), ([], [], [], []), [])
    for line, heading in lines:
        for mention in find_mentions(line):
            (_sort_points if mention.unit else _sort_money)(statements, mention, heading)
            statements.money += not mention.unit
            statements.fares += [mention] if _is_whole_fare(mention) else []
    return statements


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


def _note_per_person(price: MailPrice, mentions: Sequence[Mention]) -> None:
    price.per_person = sorted({int(m.value) for m in mentions})


def _find_program(unit: str, world: TravelFacts) -> str | None:
    """The programme whose points these are: "60,000 aeroplan points", "avios"."""
    text = re.sub(r"[^\w&+' -]+", " ", unit).strip()
    bare = re.sub(rf"\s(?:{words.UNIT})$", "", text).strip()
    return world.program(text) or (world.program(bare) if bare and bare != text else None)


def _set_money(price: MailPrice, statements: _Statements, named: set[str]) -> None:
    total = _choose_total(price, statements, named)
    if total is not None:
        price.cash, price.currencies = total
        price.currency = price.currencies[0] if len(price.currencies) == 1 else None
    if price.points is None and not price.award:
        return
    taxes = _choose_taxes(price, statements, named, total)
    if taxes is not None:
        price.taxes, price.tax_currencies = taxes
        price.taxes_currency = price.tax_currencies[0] if len(price.tax_currencies) == 1 else None


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


def _choose_taxes(price: MailPrice, statements: _Statements, named: set[str], total: Money | None) -> Money | None:
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
        elif total is not None and price.points and _is_price_of_points(total, price.points):
            values = (f"{price.points:,} points", _format_money(total))
            price.doubts.append(Doubt("taxes_paid", "The total may be the price that the points paid.", values))
            return None
        return total
    price.doubts.append(_doubt_taxes([*surest, total]))
    return None


def _is_price_of_points(total: Money, points: int) -> bool:
    """Whether a total is so high for the points that they may have paid it, as those of a bank do."""
    return total[1][0] in _COMPARABLE and total[0] / points > _MOST_TAXES_PER_POINT


def _doubt_taxes(values: Iterable[Money]) -> Doubt:
    reason = "The letter names several amounts of money next to the points."
    return Doubt("taxes_paid", reason, tuple(map(_format_money, dict.fromkeys(values))))


def _format_money(money: Money) -> str:
    value, currencies = money
    return f"{value:,.2f} {currencies[0] if len(currencies) == 1 else ''}".strip()


def _check_plausibility(price: MailPrice) -> None:
    """Much money for few points: the points may be earned, or part of a price paid in both."""
    money, currency = (price.taxes, price.taxes_currency) if price.taxes is not None else (price.cash, price.currency)
    if price.points is None or money is None or price.both:
        return
    if (currency in _COMPARABLE or currency is None) and money / price.points > _MOST_MONEY_PER_POINT:
        values = (f"{price.points:,} points", _format_money((money, (currency,) if currency else ())))
        price.doubts = [d for d in price.doubts if d.field != "taxes_paid"]
        price.doubts.append(Doubt("kind", "The letter names points and a price in money.", values))
        price.points, price.award, price.taxes = None, False, None
