"""Which reading of a statement is the right one: by proof in the file, or else by a question.

A statement leaves open whether a positive amount was spent or received, and often whether 03/04 is in March or April.
Evidence is collected for each reading; one is taken only where something proves it and nothing contradicts it.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise

from shared.domain.parsing.dates import parse_day
from shared.domain.spending.credits import is_called_refund, may_pay_card
from shared.domain.spending.line_words import CARD_PAID, CHARGED, INCOME, Holder
from shared.domain.spending.model import EXCLUDED, Hints, UnreadableStatement

SPENT, RECEIVED, OPEN = 1, -1, 0  # which way the money of a row went
_UNSURE = ("other", "insurance_tax_gov", "business_services")  # categories whose shops also pay out
_MOST_VOTES = 4  # at least this many words for a reading to each against it
_COVERED = Decimal("0.6")  # of the steps of a balance that have to be the amount between them
_SHOWN = 3
# How many days tell an order, how far apart those of one statement are, and what is too far for any.
_MIN_DAYS, _PERIOD, _YEARS = 4, 62, 300
_OLD = timedelta(days=3 * 365)


@dataclass(slots=True)
class MoneyRow:
    """One row as written. `way`: what a column or a word of the row itself says; `balance`: after this row."""

    day: date | None
    words: str
    amount: Decimal
    category: str
    balance: Decimal | None = None
    way: int = OPEN
    place: int | None = None  # of a pasted line: which of two columns of money has its amount
    fee: Decimal | None = None  # what a column of fees has beside the amount
    beside: frozenset[Decimal] = frozenset()  # of a row with a fee: what all its columns have, without signs


def settle_ways(
    rows: Sequence[MoneyRow], hints: Hints, issuer: str | None = None, holder: Holder | None = None
) -> list[Decimal]:
    """The amount of each row, positive where it was spent. Raises UnreadableStatement if both ways are possible.

    `issuer`: the sign of a charge ("positive", "negative") where the very header of the file is known. `holder`: what
    the file says it is of; an account's balance falls by what is spent, and what is owed on a card rises.
    """
    sign = _find_sign_of_stated(rows)
    _mark_stated(rows)
    open_rows = [row for row in rows if row.way == OPEN and row.amount]
    if not open_rows:
        return [_direct(row) for row in rows]
    if hints.positive_is:
        return _follow_answer(rows, SPENT if hints.positive_is == "spent" else RECEIVED)
    if sign:
        return [_direct(row) if row.way else row.amount * sign + 0 for row in rows]
    steps = _find_steps(rows)
    turn = {"account": 1, "card": -1, None: 0}["card" if hints.card_currency or hints.card_country else holder]
    if len({row.amount > 0 for row in open_rows}) == 1 and _settle_unsigned(rows, open_rows, steps, turn):
        return [_direct(row) for row in rows]
    sign = _find_sign(rows, open_rows, steps, turn, issuer)
    return [_direct(row) if row.way else row.amount * sign + 0 for row in rows]


def add_fees(rows: Sequence[MoneyRow]) -> None:
    """Adds fees that have a column of their own, where a balance or a column of the whole proves that they came on top.

    At some banks the amount holds the fee already: without a proof nothing is taken.
    """
    ways: set[int] | None = None
    for at, row in enumerate(rows):
        if not row.fee:
            continue
        around = [rows[place].balance for place in (at - 1, at + 1) if 0 <= place < len(rows)]
        steps = {abs(row.balance - other) for other in around if other is not None and row.balance is not None}
        proved = {way for way in (1, -1, 0) if abs(row.amount + way * row.fee) in steps}
        if not proved and abs(row.amount) + abs(row.fee) in row.beside:
            proved = {1 if row.amount * row.fee > 0 else -1}
        elif not proved and abs(abs(row.amount) - abs(row.fee)) in row.beside:
            proved = {0}
        if proved:
            ways = proved if ways is None else ways & proved
    if ways is None and not any(row.fee for row in rows):
        return
    if ways is None or len(ways) != 1:
        raise UnreadableStatement(
            "has fees in a column of their own, and nothing that proves whether the amounts hold them",
            "the statement with its balance after each line, or with amounts that hold the fees",
        )
    way = ways.pop()
    for row in rows:
        row.amount += way * (row.fee or 0)


def find_unproved(rows: Sequence[MoneyRow], amounts: Sequence[Decimal]) -> set[int]:
    """Rows taken as spent that may as well have been received: in a file without signs, one that pays the card, and one
    of which a column says neither where it says so of others."""
    open_rows = [row for row in rows if row.way == OPEN and row.amount]
    if any(row.amount < 0 for row in open_rows):
        return set()
    stated = {row.way for row in rows} >= {SPENT, RECEIVED}
    return {
        at
        for at, (row, amount) in enumerate(zip(rows, amounts, strict=True))
        if row.way == OPEN and amount > 0 and row.balance is None and _expect(row) != SPENT
        if stated or may_pay_card(row.words)
    }


def _follow_answer(rows: Sequence[MoneyRow], sign: int) -> list[Decimal]:
    """What the person said of a positive amount. Where no line has a sign, what was paid of a card is no purchase."""
    open_rows = [row for row in rows if row.way == OPEN and row.amount]
    if len({row.amount > 0 for row in open_rows}) == 1:
        for row in open_rows:
            if _expect(row) == RECEIVED and not INCOME.search(row.words):
                row.way, row.amount = RECEIVED, abs(row.amount)
    return [_direct(row) if row.way else row.amount * sign + 0 for row in rows]


def _find_sign_of_stated(rows: Sequence[MoneyRow]) -> int:
    """What a positive amount means, where rows that state their way are written with a sign for each."""
    out, back = ({row.amount > 0 for row in rows if row.way == way and row.amount} for way in (SPENT, RECEIVED))
    if len(out) == len(back) == 1 and out != back:
        return SPENT if out == {True} else RECEIVED
    return OPEN


def _direct(row: MoneyRow) -> Decimal:
    return row.amount * row.way + 0


def _mark_stated(rows: Sequence[MoneyRow]) -> None:
    """Makes amounts whose way is stated positive; among positive ones a negative went the other way.

    Some issuers write money in with a minus, some without, and some both ways: most must be positive.
    """
    for way in (SPENT, RECEIVED):
        stated = [row for row in rows if row.way == way and row.amount]
        below = sum(row.amount < 0 for row in stated)
        if 2 * below > len(stated):
            for row in stated:
                row.amount = -row.amount
        elif way == RECEIVED and 2 * below == len(stated):
            for row in stated:
                row.amount = abs(row.amount)


def _find_steps(rows: Sequence[MoneyRow]) -> list[int]:
    """By the running balance of an account, which way the money of each row went; no proof leaves all open."""
    best: list[list[int]] = []
    most = 0
    for order in (rows, rows[::-1]):
        ways = [OPEN] * len(rows)
        matched = compared = 0
        for at, (before, row) in enumerate(pairwise(order), 1):
            if before.balance is None or row.balance is None or not row.amount:
                continue
            compared += 1
            step = row.balance - before.balance
            if abs(step) == abs(row.amount):
                matched += 1
                ways[at] = SPENT if step < 0 else RECEIVED
        if matched and matched >= _COVERED * compared:
            ways = ways if order is rows else ways[::-1]
            if matched > most:
                best, most = [ways], matched
            elif matched == most:
                best.append(ways)
    return best[0] if len(best) == 1 else [OPEN] * len(rows)


def _settle_unsigned(rows: Sequence[MoneyRow], open_rows: Sequence[MoneyRow], steps: Sequence[int], turn: int) -> bool:
    """Rows without signs in columns by position or with a balance that goes both ways: each by its own step."""
    proved = {id(row): way for row, way in zip(rows, steps, strict=True) if way and row.way == OPEN}
    if len(set(proved.values())) < 2 and (not proved or len({row.place for row in open_rows} - {None}) < 2):
        return False
    columns: dict[int | None, set[int]] = defaultdict(set)
    for row in open_rows:
        if id(row) in proved:
            columns[row.place].add(proved[id(row)])
    by_words = _agree(_expect(row) * proved[id(row)] for row in open_rows if id(row) in proved)
    by_heading = _agree(columns.get(0, ())) or -_agree(columns.get(1, ()))  # the first of the two is what was spent
    turn = by_words or by_heading or turn
    if not turn:
        raise _ask_for_sign(open_rows)
    for row in open_rows:
        way = proved.get(id(row), OPEN) * turn
        if not way and row.place is not None:
            way = _agree(columns.get(row.place, ())) * turn or -_agree(columns.get(1 - row.place, ())) * turn
        if not way and not (way := _expect(row)):
            raise _ask_for_sign([row])
        row.way = way
        row.amount = abs(row.amount)
    return True


def _find_sign(
    rows: Sequence[MoneyRow], open_rows: Sequence[MoneyRow], steps: Sequence[int], turn: int, issuer: str | None
) -> int:
    """Finds the meaning of a positive amount: spent or received."""
    votes, of_shops = _count_votes(open_rows)
    total = votes[SPENT] + votes[RECEIVED]
    words = next((way for way in (SPENT, RECEIVED) if total and votes[way] >= _MOST_VOTES * votes[-way]), OPEN)
    if of_shops == total and words * sum(_sign(row) for row in open_rows) < 0:
        words = OPEN  # a shop that is known may have given money back where most lines are of others
    step = _agree(way * _sign(row) for row, way in zip(rows, steps, strict=True) if row.way == OPEN)
    alike = _agree(_sign(row) for row in open_rows)  # all of one sign: a month of purchases
    evidence = {
        "balance": step * turn,
        "words": words,
        "issuer": {"positive": SPENT, "negative": RECEIVED}.get(issuer or "", OPEN),
        # As a month of deposits of an account, it would have the same balance.
        "alike": OPEN if not turn and step == -alike else alike,
    }
    all_voted = total == len({row.words for row in open_rows})

    def holds(way: int) -> bool:
        behind = {name for name, meaning in evidence.items() if meaning == way}
        against = {name for name, meaning in evidence.items() if meaning == -way}
        proofs = behind - {"alike"}
        if not against:
            return bool(proofs) or (bool(behind) and not total)
        if "words" not in behind:
            return proofs == {"balance", "issuer"} or (proofs == {"issuer"} and against == {"alike"})
        contradicted = against & {"balance", "issuer"}
        explained = "alike" not in against or len(proofs) > 1 or all_voted
        return explained and len(contradicted) < 2 and (total > 1 or not contradicted)

    winners = [way for way in (SPENT, RECEIVED) if holds(way)]
    if len(winners) == 1:
        return winners[0]
    more = sum(_sign(row) for row in open_rows)
    if turn < 0 and 2 * abs(more) >= len(open_rows) and not any(evidence.values()):
        return SPENT if more > 0 else RECEIVED  # of a card most lines are purchases
    raise _ask_for_sign(open_rows)


def _sign(row: MoneyRow) -> int:
    return 1 if row.amount > 0 else -1


def _agree(ways: Iterable[int]) -> int:
    ways_told = set(ways) - {OPEN}
    return ways_told.pop() if len(ways_told) == 1 else OPEN


def _expect(row: MoneyRow) -> int:
    """Which way money goes, only by the words of a row."""
    kind = row.category.removeprefix(EXCLUDED) if row.category.startswith(EXCLUDED) else ""
    if kind == "fee_interest" or kind == "cash_advance" or CHARGED.search(row.words):
        return SPENT
    if kind == "refund" or is_called_refund(row.words) or CARD_PAID.search(row.words) or INCOME.search(row.words):
        return RECEIVED
    if not kind and row.category not in _UNSURE:
        return SPENT
    return OPEN


def _count_votes(rows: Sequence[MoneyRow]) -> tuple[dict[int, int], int]:
    """For each meaning of a positive amount, how many shops and kinds of line speak for it; and how many are shops.

    A shop with lines on both sides took more than it gave back.
    """
    groups: Mapping[str, list[MoneyRow]] = defaultdict(list)
    for row in rows:
        groups[row.words].append(row)
    votes, of_shops = {SPENT: 0, RECEIVED: 0}, 0
    for group in groups.values():
        net = sum(row.amount for row in group)
        expected = _expect(group[0])
        if not expected and len({row.amount > 0 for row in group}) == 2:
            expected = SPENT
        if expected and net:
            votes[expected * (1 if net > 0 else -1)] += 1
            of_shops += expected == SPENT
    return votes, of_shops


def _ask_for_sign(rows: Sequence[MoneyRow]) -> UnreadableStatement:
    examples = sorted(rows, key=lambda row: row.amount > 0)
    examples = [*examples[:1], *examples[::-1][: _SHOWN - 1]] if len(rows) > 1 else examples
    lines = ", ".join(f"{row.amount:,} on {_write_day(row.day)}" for row in examples)
    return UnreadableStatement(
        f"does not tell whether a positive amount was spent or received: {lines}",
        '"spent" or "received"; ask the person which these lines are',
        "positive_is",
    )


def _write_day(day: date | None) -> str:
    return f"{day:%-d %B %Y}" if day else "a day that cannot be read"


ORDER_NAMES = {"day_first": "dmy", "month_first": "mdy", "year_first": "yymd"}
_SLASHED = re.compile(r"\d{1,2}[/. -]\d{1,2}[/. -]\d{2,4}", re.ASCII)


def choose_order(
    texts: Sequence[str],
    orders: Sequence[str],
    hints: Hints,
    period: Sequence[date] = (),
    written: str | None = None,
) -> str:
    """Chooses the order (dmy, mdy, yymd) of the days in a column.

    `texts`: the cells as they follow each other; `period`: days that the statement names in words; `written`: the order
    of its other days. Raises UnreadableStatement where two orders make days of the cells and nothing tells which.
    """
    texts = [text for text in texts if text.strip()]
    distinct = list(dict.fromkeys(texts))
    read = {order: [parse_day(text, (order, "ymd")) for text in distinct] for order in orders}
    fewest = min(days.count(None) for days in read.values())
    fitting = [order for order in orders if read[order].count(None) == fewest]
    fitting = [
        order for order in fitting if not any(read[order] == read[other] for other in fitting[: fitting.index(order)])
    ]
    if hints.date_order and ORDER_NAMES[hints.date_order] in orders:
        return ORDER_NAMES[hints.date_order]
    if len(fitting) > 1 and all("." in text for text in distinct):  # no country writes the month first with points
        fitting = [order for order in fitting if order != "mdy"] or fitting
    if len(fitting) > 1 and written in fitting:
        fitting = [written]
    if len(fitting) > 1:
        fitting = _narrow(fitting, read, hints, period)
    if len(fitting) == 1:
        return fitting[0]
    raise _ask_for_order(distinct, fitting)


def _narrow(
    fitting: list[str], read: Mapping[str, list[date | None]], hints: Hints, period: Sequence[date]
) -> list[str]:
    days = {order: [day for day in read[order] if day] for order in fitting}
    past = {order for order in fitting if max(days[order]) <= hints.today + timedelta(days=1)}
    named = {
        order for order in fitting if period and min(period) <= min(days[order]) <= max(days[order]) <= max(period)
    }
    recent = {order for order in fitting if max(days[order]) > hints.today - _OLD} if "yymd" in fitting else set()
    for possible in (past, named, recent):
        fitting = [order for order in fitting if order in possible] or fitting
    if len(fitting) == 1:
        return fitting
    spans = {order: (max(days[order]) - min(days[order])).days for order in fitting}
    dense = [order for order in fitting if spans[order] <= _PERIOD]
    apart = min((span for order, span in spans.items() if order not in dense), default=0) > _YEARS
    if len(dense) == 1 and (len(days[fitting[0]]) >= _MIN_DAYS or (apart and len(days[fitting[0]]) > 1)):
        return dense
    ordered = [order for order in fitting if _is_ordered(days[order])]
    if len(ordered) == 1 and len(days[fitting[0]]) >= _MIN_DAYS:
        return ordered
    country = hints.card_country or hints.own_country
    habit = "mdy" if country in ("US", "PH") else "dmy"
    return [habit] if country and country != "CA" and habit in fitting else fitting  # Canada writes both


def _is_ordered(days: Sequence[date]) -> bool:
    return all(a <= b for a, b in pairwise(days)) or all(a >= b for a, b in pairwise(days))


def _ask_for_order(texts: Sequence[str], fitting: Sequence[str]) -> UnreadableStatement:
    open_texts = [text for text in texts if len({parse_day(text, (order, "ymd")) for order in fitting}) > 1][:_SHOWN]
    examples = "; ".join(
        f"{text.strip()} can be " + " or ".join(_write_day(parse_day(text, (order,))) for order in fitting)
        for text in open_texts
        if _SLASHED.fullmatch(text.strip())
    )
    names = [name for name, order in ORDER_NAMES.items() if order in fitting]
    ways = " and ".join(name.replace("_", " ") for name in names)
    return UnreadableStatement(
        f"has dates that can be read {ways}{': ' * bool(examples)}{examples}",
        " or ".join(names),
        "date_order",
    )
