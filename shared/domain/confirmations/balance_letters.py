"""Statements of a loyalty programme: the one number that is called the balance, whose it is, and of which day.

Tier points, what was earned, spent or expires, and sums of money stand next to it and are no balance. Two numbers that
may be it are a question, and so is a programme that the letter does not name. The day on which all of it expires is
read too, unless the letter names several days or says it of fewer points, a card or a status.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from shared.domain.confirmations import price_words
from shared.domain.confirmations.forwarding import Text
from shared.domain.confirmations.mail_dates import rewrite_dates
from shared.domain.confirmations.model import StatedBalance, TravelFacts
from shared.domain.parsing.dates import find_dates
from shared.domain.parsing.numbers import UnreadNumber, read_number
from shared.domain.parsing.text import fold

_MAX_LINES, _MAX_LINE = 600, 400
_MOST_PROGRAMS = 10  # Membership Rewards alone has one for each of eight countries
_FAR = 60  # characters from a label to its number
_OLDEST = timedelta(days=800)
# What calls a number a balance, in the languages of the letters. It may end in a word of its language.
_LABEL = re.compile(
    r"(?<![a-z])(?:balance|bal\.|[a-z]*kontostand|[a-z]*(?:meilen|punkte)stand|[a-z]*guthaben|saldo(?:s)?|solde"
    r"|stan konta|bakiye(?:niz|si)?|баланс[а-я]*|остаток|tegoed|saldot)(?![a-z])"
    r"|(?:残高|残マイル|余额|餘額|里程余额|잔액|잔여)"
)
# A number with its unit that needs no such word: "you have 42,318 miles", "42.318 Meilen verfügbar".
_HELD = re.compile(
    r"(?<![a-z])(?:you (?:currently |now )?have|sie haben(?: aktuell| derzeit)?|du hast(?: aktuell| derzeit)?"
    r"|vous (?:avez|disposez de)|tienes|tiene|dispone de|hai|disponi di|voce tem|(?:je|u) hebt|du har)"
    r"(?= ?:? ?\d[\d., ']*(?:[a-z&+ ]{0,24}(?:miles|points|avios|meilen|punkte|puntos|millas|punti|miglia|pontos"
    r"|milhas|mijlen|punten|poang))(?! (?:to|left to|until|expir|bis|zu|pour|para|per|da|om|from|away|short))"
    r"(?! (?:that|which) expir))"
    r"|(?<![a-z])(?:(?:available|redeemable|verfugbare|beschikbare|tillgangliga) "
    r"(?:\w+ )?(?:miles|points|avios|meilen|punkte|mijlen|punten|poang|pramienmeilen)"
    r"|(?:miles|points|avios|punti|miglia|puntos|millas|pontos|milhas) (?:\w+ )?"
    r"(?:available|disponib\w+|disponiveis|disponivel)"
    r"|(?:meilen|punkte|mijlen|punten|poang) (?:\w+ )?(?:verfugbar|beschikbaar|tillgangliga))(?![a-z])"
)
# What else such a line can count. None of these is what the person holds now.
_OTHER = re.compile(
    r"(?<![a-z])(?:tier|status|elite|elites|qualif\w*|medallion|mqd|mqm|eqm|pqp|pqf|xp|ux|level|lifetime|nights?"
    r"|segments?"
    r"|earn\w*|collected|accrued|redeem(?:ed|ing)|spent|used|expir\w*|previous|opening|last (?:month|statement)|prior"
    r"|old"
    r"|begin\w*|starting|bonus|transfer\w*|pending|goal|target|required|needed|due|minimum|payment|statement|card"
    r"|credit limit|cash|gift|from|to go|until|household|family|pool\w*"
    r"|alter|alten|vorheriger|vormonat|anfangs\w*|gesammelt\w*|eingelost\w*|verfall\w*|verfallen|statusmeilen"
    r"|statuspunkte"
    r"|qualifikation\w*|punkte bis|anterior|ancien\w*|precedent\w*|initial\w*|gagne\w*|acquis\w*|utilise\w*|statut"
    r"|qualifiant\w*|niveaux?|ganad\w*|acumulad\w*|usad\w*|canjead\w*|caduc\w*|venc\w*|nivel|iniziale|precedente"
    r"|guadagnat\w*|scad\w*|livello|inicial|ganh\w*|resgatad\w*|expira\w*|categoria|calificables|calificadores"
    r"|vorige|verdiende|verlop\w*|forra|intjanad\w*|poprzedni\w*|onceki)(?![a-z])"
    r"|獲得|有効期限|失効|前回|プレミアムポイント|ステータス|已过期|升级"
)
# Letters of East Asia stand right beside a number; those of years, months and days make it a part of a date.
_LETTER = r"[^\W\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]"
_NUMBER = re.compile(rf"(?<!{_LETTER})(?<![.,'])\d(?:[\d., '’\u00a0\u202f]*\d)?(?!{_LETTER}|[.,]\d|%|[年月日년월일])")
_ALONE = re.compile(rf"(\d[\d., '’\u00a0\u202f]*\d) ?[a-z&+ ]{{0,24}}(?:{price_words.UNIT})")
_SHORT = 24  # characters of a line that says of which day a letter speaks, without the day
_UNIT = re.compile(rf"{price_words.UNIT}|mileage|meilen|punkte(?:stand|konto)|里程|積分|积分|마일")
# What ends a sentence; a mark between digits does not. A label of a day of expiry begins one.
_CLAUSE = re.compile(r"[;!?|]|\.(?!\d)|,(?!\d)|\s(?=有効期限|失効日|有效期)")
_EXPIRY = re.compile(
    r"(?<![a-z])(?:expir\w*|valid (?:until|through|thru)|gultig bis|verfall\w*|valables? jusqu|caduc\w*|venc\w*"
    r"|scad\w*|validi fino|verlop\w*|vervallen|geldig tot|giltig\w* till)(?![a-z])|有効期限|失効日|有效期"
)
_NOT_POINTS = re.compile(
    r"(?<![a-z])(?:status|tier|cards?|karten?|cartes?|tarjetas?|cartao|vouchers?|certificates?|gutscheine?|offers?"
    r"|membership|mitgliedschaft|gift|coupons?|bonus|medallion|nights?|companion|password|link|buy|transfer)(?![a-z])"
)
_MONEY = re.compile(r"[$€£¥₹]|(?<![a-z])(?:usd|eur|gbp|cad|aud|chf|brl|jpy|inr|sgd|r\$|dollars?|euros?|reais)(?![a-z])")


@dataclass(frozen=True)
class _Mention:
    points: int
    has_unit: bool
    day: date | None


def read_balance(texts: Sequence[Text], world: TravelFacts) -> StatedBalance | None:
    """What the texts of one letter state of a balance; None where nothing is called so."""
    mentions = [mention for text in texts for mention in _find_mentions(text)]
    with_unit = [mention for mention in mentions if mention.has_unit]
    amounts = list(dict.fromkeys(m.points for m in with_unit or mentions))
    programs = _find_programs(texts, world)
    if not mentions and programs:
        # Points in a line of their own, in a letter that tells of which day it speaks, may be what the person has.
        small = [_cut_days(fold(line[:_MAX_LINE]), t.posted) for t in texts for line in t.body.split("\n")[:_MAX_LINES]]
        is_of_day = any(len(days) == 1 and len(line.strip()) <= _SHORT for line, days in small)
        alone = [m[1] for line, _ in small if is_of_day and (m := _ALONE.fullmatch(line.strip()))]
        amounts = list(dict.fromkeys(points for written in alone if (points := _read_points(written)) is not None))
    if not amounts or not (programs or with_unit):
        return None
    days = {m.day for m in mentions if m.points == amounts[0] and m.day}
    posted = next((text.posted for text in texts if text.posted), None)
    is_sure = len(amounts) == 1 and bool(with_unit)  # a bare number may be of anything
    return StatedBalance(
        program=programs[0] if len(programs) == 1 else None,
        points=amounts[0] if is_sure else None,
        as_of=days.pop() if len(days) == 1 else posted if not days else None,
        programs=programs[:_MOST_PROGRAMS],
        amounts=amounts[:4],
        expires_on=_find_expiry(texts, amounts[0]) if is_sure else None,
    )


def read_overview(text: Text, world: TravelFacts) -> list[StatedBalance]:
    """The balances of a list of several programmes: each in a clause that names one programme and one number.

    None of a programme that comes with two numbers, and nothing where fewer than two programmes are left. A name of
    several programmes leaves open which.
    """
    stated: dict[frozenset[str], dict[int, StatedBalance]] = {}
    for line in text.body.split("\n")[:_MAX_LINES]:
        small, days = _cut_days(fold(line[:_MAX_LINE]), text.posted)
        for clause in _CLAUSE.split(small):
            named = world.programs_named(clause)
            numbers = [] if _OTHER.search(clause) or _MONEY.search(clause) else _NUMBER.findall(clause)
            if len(named) == 1 and len(numbers) == 1 and (points := _read_points(numbers[0])) is not None:
                day = days[0] if len(days) == 1 else None
                programs = sorted(named[0])
                program = programs[0] if len(programs) == 1 else None
                stated.setdefault(named[0], {})[points] = StatedBalance(program, points, day, programs, [points])
    single = [only for of_program in stated.values() if len(of_program) == 1 for only in of_program.values()]
    return single if len(single) > 1 else []


def _read_points(written: str) -> int | None:
    try:
        points: int = read_number(written.strip(), is_whole=True)
    except UnreadNumber:
        return None
    return points


def _find_mentions(text: Text) -> Iterator[_Mention]:
    """Each number that a line, or the line above it, calls a balance."""
    lines = [line[:_MAX_LINE] for line in text.body.split("\n")[:_MAX_LINES] if line.strip()]
    for at, line in enumerate(lines):
        small, days = _cut_days(fold(line), text.posted)
        for label in (*_LABEL.finditer(small), *_HELD.finditer(small)):
            below = _cut_days(fold(lines[at + 1]), text.posted)[0] if at + 1 < len(lines) else ""
            if mention := _read_mention(small, label, below, days):
                yield mention


def _read_mention(small: str, label: re.Match[str], below: str, days: list[date]) -> _Mention | None:
    before, after = _CLAUSE.split(small[: label.start()])[-1], _CLAUSE.split(small[label.end() :])[0]
    if _OTHER.search(f"{before} {label[0]} {after[:_FAR]}"):
        return None
    number = _NUMBER.search(after[:_FAR])
    tail = after
    if number is None and not re.search(r"\d", after):
        number, tail = _NUMBER.match(below.strip()), below.strip()  # the value stands under its label
        if number is None or _OTHER.search(tail) or _LABEL.search(tail):
            number = None
    if number is None and label.re is _HELD:  # "42,318 miles available"
        numbers = list(_NUMBER.finditer(before))
        number, tail = (numbers[-1], before) if numbers else (None, tail)
    if number is None or _MONEY.search(tail[max(0, number.start() - 5) : number.end() + 9]):
        return None
    if (points := _read_points(number[0])) is None:
        return None
    around = f"{before[-40:]} {label[0]} {tail[: number.end() + 30]}"
    return _Mention(points, bool(_UNIT.search(around)), days[0] if len(set(days)) == 1 else None)


def _cut_days(small: str, posted: date | None) -> tuple[str, list[date]]:
    """The line without its dates, whose numbers are no balance, and the days of the letter that leave no doubt."""
    cut, days = _cut_dates(small)
    return cut, [day for day in days if posted is None or posted - _OLDEST <= day <= posted]


def _cut_dates(small: str) -> tuple[str, list[date]]:
    days: list[date] = []
    cut = rewrite_dates(small)
    for written, start, end in find_dates(cut):
        exact = {day for order in ("dmy", "mdy") if (day := written.exact(order))}
        days += exact if len(exact) == 1 else ()
        cut = cut[:start] + " " * (end - start) + cut[end:]
    return cut, days


def _find_expiry(texts: Sequence[Text], points: int) -> date | None:
    """The only day that the letter names as the end of its points, or of all these."""
    ends: set[date | None] = set()
    for text in texts:
        lines = [fold(line[:_MAX_LINE]) for line in text.body.split("\n")[:_MAX_LINES] if line.strip()]
        for at, line in enumerate(lines):
            around, days = _cut_dates(" ".join(lines[at : at + 2]) if not _cut_dates(line)[1] else line)
            clauses = [clause for clause in re.split(r"[;!?|]|\.(?!\d)", around) if _EXPIRY.search(clause)]
            if not days or not clauses or not _EXPIRY.search(line) or _NOT_POINTS.search(clauses[0]):
                continue
            counted = {_read_points(number) for number in _NUMBER.findall(clauses[0])}
            is_of_points = _UNIT.search(clauses[0]) or (at and _UNIT.search(lines[at - 1]))
            ends |= set(days) if is_of_points and counted <= {points} else {None}
    day = ends.pop() if len(ends) == 1 else None
    posted = next((text.posted for text in texts if text.posted), None)
    return day if day and (posted is None or day >= posted) else None


def _find_programs(texts: Sequence[Text], world: TravelFacts) -> list[str]:
    """The programmes the letter may be of: that of its sender where the words allow it, else all that they name."""
    named = [p for text in texts for p in world.programs_named(f"{text.subject}\n{text.body[:20_000]}")]
    senders = [p for text in texts for p in _list_sent(text, world)]
    for meant in senders:
        fitting = meant & frozenset().union(*named) if named else meant
        if len(fitting) == 1:
            return sorted(fitting)
    single = list(dict.fromkeys(next(iter(p)) for p in named if len(p) == 1))
    if single:
        return single if not senders else sorted({*single, *(slug for p in senders for slug in p)})
    return sorted({slug for meant in (*named, *senders) for slug in meant})


def _list_sent(text: Text, world: TravelFacts) -> Iterator[frozenset[str]]:
    yield from world.programs_named(text.sender)
    sender = world.sender(text.domain) if text.domain else None
    if sender and sender.airline and (own := world.program_of(sender.airline)):
        yield frozenset([own])
