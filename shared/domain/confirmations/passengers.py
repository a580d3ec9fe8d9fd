"""How many people a booking is for: a count the letter states, or the names it lists."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from shared.domain.confirmations import passenger_words as words
from shared.domain.confirmations.flight_lines import to_plain
from shared.domain.confirmations.model import Doubt, TravelFacts
from shared.domain.confirmations.person_names import (
    TITLE,
    TITLED,
    has_title_behind,
    is_name,
    order_words,
    read_leading_name,
    read_slashed,
    split_people,
)
from shared.domain.parsing.alternatives import compile_any
from shared.domain.parsing.text import fold

# The numbers of travellers a letter states: "2 adults, 1 child", "Reisende: 2", "大人2名".

_ONE = r"(?:\(s\)|\(n\)|\(e?n\)|\(es\)|/in|:in)?"
_AGE = (
    r"(?!(?: ?(?:-|–|~|〜|to|bis|a|al|e|y|et|tot) ?\d{1,2})? ?"
    r"(?:jahr|years?|yrs?|y\.?o|ans?\b|anos?|ann[oi]|jaar|歳|才))"
    r"(?! ?[x×]? ?(?:bag|pc|piece|gepack|koffer|valis|mala|malet|equip|stuk|hand|carry|suitcase|個|check|meal|seat"
    r"|sitz))"
)
_END = (
    r"(?!\. [^\d\n]{3,60}\d\. )"  # "1. Mr Robin Sample  2. Mrs Kim Sample" is a list
    rf"(?![\d.,:/%]*\d)(?! ?(?:-|–|~|〜) ?\d)(?! ?(?:st|nd|rd|th|kg|pc)\b)(?!名?様?(?:につき|まて|あたり|当たり)){_AGE}"
)
_OF_AMOUNT = r"(?!様?[\s:=]{1,20}\d[\d.,]{2})"  # "1名様 110,000マイル" prices one traveller
_LABELLED = re.compile(
    r"^[^\w\n]*(?:(?:total )?(?:number|no\.?|total|anzahl|nombre|numero|n[°ºo]\.?|aantal|numero total|antal) (?:of "
    r"|der |de |d'|di |von |van )?)?"
    rf"(?:(?:{words.PERSON}|{words.CUSTOMER}|{words.ADULT}){_ONE}(?: count| total)?|(?:travel )?party(?: size| of)?|pax"
    r"|personen|personas|persone|pessoas|persons|people|(?:こ利用|こ?搭乗|こ?宿泊|こ?旅行)?人数|搭乗者数)"
    rf"[^\w\n]{{0,3}}(?:[:\t]|(?<=party of) |(?<=人数))\s{{0,4}}(\d)(?![\d.,:/])(?! ?(?:{words.CHILD}))"
    rf"[^\w\n]*(?:\(|{words.PERSON}|{words.ADULT}|名|人|pax|personen|persons|people|$)",
    re.M,
)
_IN_BRACKETS = re.compile(
    rf"^[^\w\n]*(?:{words.PERSON}|{words.CUSTOMER}) ?\((\d)\)\s?(?::|$)", re.M
)  # "Pasajeros (3): ..."
_LABELLED_CHILD = re.compile(rf"^[^\w\n]*(?:{words.CHILD}){_ONE}\s?[:\t]\s{{0,4}}(\d)(?![\d.,:/])", re.M)
_TIMES = r" ?(?:[x×] ?)?"
_BEFORE = re.compile(
    rf"(?<![\d.,/-])(?P<n>\d){_TIMES}(?:(?P<all>{words.PERSON}|{words.CUSTOMER})|(?P<adult>{words.ADULT})"
    rf"|(?P<child>{words.CHILD})){_ONE}(?![a-z])"
)
_SORT = rf"(?:{words.ADULT}|{words.CHILD}|{words.INFANT})"
_BEHIND = re.compile(
    rf"(?<![a-z])(?:(?P<all>(?:(?!お客様|guest|gast){words.PERSON})(?!.{{0,4}}\d ?{_SORT})"
    # The first of several counts in words that are not known is not that of all.
    r"(?!.{0,4}\d [^\W\d_]{2,20}\.? ?[,+&/] ?\d [^\W\d_]))"
    rf"|(?P<adult>{words.ADULT})|(?P<child>{words.CHILD})){_ONE}"
    rf"(?: ?[x×:(] ?|\t| |(?<=[^\x00-\x7f]))(?P<n>\d){_END}(?! (?:of|von|de|di|van|sur) \d)"
)
_PERSONS = re.compile(
    r"(?:for|fur|pour|para|per|voor) (\d) (?:people|persons?|personen|personnes|personas|pessoas|persone)\b"
    rf"|(\d) ?名様?{_OF_AMOUNT}(?!様?(?:まて|あたり|当たり|につき|1室|ことに)|(?<=(?<!\d)1名)様?分|(?<=(?<!\d)1名様)分)"
)
_INFANTS = re.compile(
    rf"(?<![\d.,/-])(\d){_TIMES}(?:{words.INFANT})(?![a-z])"
    rf"|(?<![a-z])(?:{words.INFANT}){_ONE}(?: ?[x×:(] ?|\t| )(\d){_END}"
)
_ANY_PERSON = compile_any(rf"{words.PERSON}|{words.CUSTOMER}|{words.ADULT}|{words.CHILD}")
_AGES = re.compile(
    r" ?\([^()\d\n]{0,12}\d{1,2} ?(?:\+|(?:-|–|~|〜|to|bis|a|al|tot) ?\d{1,2})[^()\n]{0,14}\)"
)  # "Adults (16+): 2"
_MOST_LABELS = 20  # each may have its children anywhere below
_LONGEST_COUNT = 200  # a longer line tells of conditions, and counts only where nothing else does
_NUMBER_WORD = re.compile(
    rf"(?<![a-z])({'|'.join(words.NUMBERS)})(?= (?:{words.PERSON}|{words.ADULT}|{words.CHILD}|people|persons|personen"
    r"|personnes|personas|pessoas|persone)(?![a-z]))"
)


class Count(NamedTuple):
    """A number of travellers as stated. `most` is more where babies may be among them or not; `unsure` where it may
    be any number from `least` to `most`."""

    least: int
    most: int
    unsure: bool = False


def list_counts(folded: str) -> list[Count]:
    """All numbers that a letter states; surer statements only, where there are some besides those of long lines."""
    folded = _AGES.sub("", _NUMBER_WORD.sub(lambda m: str(words.NUMBERS[m[1]]), folded))
    lines = [line for line in folded.split("\n") if any(map(str.isdigit, line))]
    infants = max((sum(int(m[1] or m[2]) for m in _INFANTS.finditer(line)) for line in lines), default=0)
    labelled = [
        count
        for p in (_LABELLED, _IN_BRACKETS)
        for m in islice(p.finditer(folded), _MOST_LABELS)
        if (count := _add_children(folded, m))
    ]
    short = [line for line in lines if len(line) <= _LONGEST_COUNT]
    counts = [Count(n, n) for n in labelled] + _list_phrases(short)
    if not counts and len(short) < len(lines):
        counts = _list_phrases(lines)
    return [count._replace(most=count.most + infants) for count in dict.fromkeys(counts)]


def _list_phrases(lines: list[str]) -> list[Count]:
    """What phrases state: travellers as a whole, and adults with the children."""
    whole, adults, children = set[int](), 0, 0
    for line in [ln for ln in lines if _ANY_PERSON.search(ln)] if _ANY_PERSON.search("\n".join(lines)) else []:
        before = _sort_counts(_BEFORE, line)
        behind = (0, 0, 0) if any(before[:2]) else _sort_counts(_BEHIND, line)
        of_line = behind if any(behind) else before
        whole.add(of_line[0])
        adults, children = max(adults, of_line[1]), max(children, of_line[2])
    whole |= (
        {int(m[1] or m[2]) for line in lines for m in _PERSONS.finditer(line)} if not (adults or any(whole)) else set()
    )
    whole -= {0}
    if len(whole) > 1 and (whole == set(range(1, max(whole) + 1)) or 1 in whole):
        # "Passenger 1", "Passenger 2" number them; alongside others "1 passenger" tells of each.
        whole = {max(whole)} if whole == set(range(1, max(whole) + 1)) else whole - {1}
    # "2 passengers, 1 child" may be two or three people.
    more = 0 if adults else children
    counts = [Count(n, n + more, more > 0) for n in sorted(whole)]
    return [*counts, Count(adults + children, adults + children)] if adults else counts


def _sort_counts(pattern: re.Pattern[str], line: str) -> tuple[int, int, int]:
    """The counts of a line: of all travellers, of adults, and all children together."""
    counts: dict[str, list[int]] = {"all": [0], "adult": [0], "child": [0]}
    for match in pattern.finditer(line):
        if not words.POSSIBLE.search(line[max(0, match.start() - 16) : match.start()]):
            counts[next(kind for kind in counts if match[kind])].append(int(match["n"]))
    return max(counts["all"]), max(counts["adult"]), sum(counts["child"])


def _add_children(folded: str, match: re.Match[str]) -> int | None:
    """A labelled count with the children next to it or below it; those in brackets are among it."""
    count = int(match[1])
    line_end = folded.find("\n", match.end(1))
    rest = folded[match.end(1) : line_end if line_end >= 0 else len(folded)]
    if rest.lstrip(" 名人").startswith(("(", ")")):
        return count or None
    below = _LABELLED_CHILD.search(folded) if re.search(words.ADULT, match[0]) else None
    beside = _sort_counts(_BEFORE, rest)[2] or _sort_counts(_BEHIND, rest)[2]
    return count + (beside or (int(below[1]) if below else 0)) or None


# A label and what stands behind it, in the same cell, in the next, behind two blanks or before a title.
_LABEL = re.compile(
    r"^[^\w\n]*(?:\d{1,2}[.)] )?([^:\t]{1,60}?)"
    rf"(?:(?:\s{{0,30}}[:\t】\]]\s{{0,30}}|\s{{2,30}})(?=[^\W\d_]|\d{{1,2}}[.)] )| (?={TITLE}\.? [^\W\d_]))"
)
_NUMBERED = re.compile(r"^[^\w\n]*\d{1,2}\s?[.):]?\s+(?=[^\W\d_])")
_OF_NUMBER = re.compile(r"nummer|number|numero|numer")
_BULLET = re.compile(r"^[^\w\n]*(?:\d{1,2}[.)] )?")
_WORD = re.compile(r"[^\W\d_]+")
_TRAVELLER = re.compile(rf"(?:{words.PERSON})(?:{words.NAME}|{words.COMPOUND})?")
_ONE_OF_THEM = re.compile(rf"{words.ADULT}|{words.CHILD}|{words.INFANT}")
_NAME = re.compile(words.NAME)
_CUSTOMER = re.compile(words.CUSTOMER)
# One of these stands in every line of which more is read than a title and a name; most lines hold none.
_ANY_WORD = compile_any(
    rf"{words.PERSON}|{words.CUSTOMER}|{words.NAME}|{words.ADULT}|{words.CHILD}|{words.INFANT}|who|wer |qui|chi "
    rf"|quem|wie "
    r"|party|booked|reserved|arranged|made|issued|ticketed|gebucht|ausgestellt|reserviert|reserve|emis|achet"
    r"|reservad|emitid"
    r"|comprad|prenotat|emess|geboekt|uitgegeven"
)
_TICKET = re.compile(
    r"\b(?:e-?)?ticket(?:s?\b|-?n)|\bseats?\b|\bbillet|\bsitz|\bbillete|\bbigliett|\bbilhete|航空券|座席"
)
_MARKED = re.compile(rf"^[^\W\d_][^\t\d(]{{4,40}}?\s*(?:[(\t]| - )\s*(?:{words.ADULT}|{words.CHILD})(?![a-z])")
_ROLE = re.compile(rf"[(\t·,-]\s*(?:{words.ADULT}|{words.CHILD})(?![a-z])")
_ROLE_APART = re.compile(
    rf" (?=(?:{words.ADULT}|{words.CHILD}|{words.INFANT})(?: [a-z]{{2,20}}){{0,3}} ?(?:$|\d|\())"
)  # of a table without its cells
_TITLE_CELL = re.compile(rf"^(\W*(?:\d{{1,2}}[.)]?[ \t]+)?{TITLE}\.?)[ ]*\t[ ]*(?=[^\W\d_]{{2}})", re.I)
_IS_INFANT = re.compile(rf"(?:^[^\w\n]*(?:\d{{1,2}}\W+)?|[(\t·,-]\s*)(?:{words.INFANT})(?![a-z])")
_TICKET_NUMBER = re.compile(r"(?<!\d)\d{3}[- ]?\d{10}(?!\d)")
_FLAT_LABEL = re.compile(
    rf"^\W*(?:{words.PERSON})(?:{words.NAME})?(?:\(s\))?\*? (?=[^\W\d_])"
)  # of a table without its cells
_STOP = re.compile(
    r"^\W*(?:total|price|preis|gesamt|prix|precio|prezzo|preco|prijs|payment|zahlung|paiement|pago|pagamento|fare"
    r"|tarif|合計|支払)"
)
_MOST = 9
_LONGEST = 160
_LIST_LINES = 40
_MOST_HEADINGS = 20
_MOST_BABIES = 1  # that may have a ticket and stand in no list
_MOST_UNKNOWN = 4  # lines of a list that are neither a name nor a detail


@dataclass
class _Travellers:
    """Names by how sure they are those of travellers: named so, just named, a customer's, of one it is booked for."""

    person: set[str] = field(default_factory=set)
    name: set[str] = field(default_factory=set)
    customer: set[str] = field(default_factory=set)
    booked_for: set[str] = field(default_factory=set)
    unsure: bool = False  # a line may name one person or two


class Passengers(NamedTuple):
    """The number of travellers; None where the letter does not say. `possible` are the numbers it says instead."""

    number: int | None = None
    possible: tuple[int, ...] = ()


def read_passengers(text: str, world: TravelFacts) -> Passengers:
    """The number on which all counts and lists of a letter agree; one person named alone is no count alongside
    others.
    """
    text = to_plain(text)
    stated_counts = list_counts(fold(text))
    name_count = _count_names(text.split("\n"), world)
    counts = [*stated_counts, *([name_count] if name_count and (name_count.least > 1 or not stated_counts) else [])]
    counts += _count_tickets(text, name_count.least) if name_count and not stated_counts else []
    if not counts:
        return Passengers()
    least, most = max(c.least for c in counts), min(c.most for c in counts)
    if least > most or (least < most and any(c.unsure for c in counts)):
        values = sorted({n for c in counts for n in (c.least, c.most if c.unsure else c.least) if n <= _MOST})
        return Passengers(possible=tuple(values))
    return Passengers(least) if least <= _MOST else Passengers()


def _count_tickets(text: str, names: int) -> list[Count]:
    """The count of electronic tickets where a list of names differs: a line read as a name, or a name not read, shows
    there. An airline's tickets bear its three digits; babies may have one, and be no passenger of the list."""
    by_airline = Counter(number[:3] for number in {re.sub(r"\D", "", m[0]) for m in _TICKET_NUMBER.finditer(text)})
    tickets = max(by_airline.values(), default=0)
    babies = _MOST_BABIES if re.search(words.INFANT, fold(text)) else 0
    return [] if not tickets or names <= tickets <= names + babies else [Count(tickets, tickets)]


def doubt_passengers(passengers: Passengers) -> list[Doubt]:
    """The doubt of a letter that states several numbers."""
    reason = "The letter states several numbers of passengers."
    return [Doubt("passengers", reason, passengers.possible)] if passengers.possible else []


def _count_names(lines: list[str], world: TravelFacts) -> Count | None:
    """How many people a letter names as those who travel."""
    lines = [_part_role(line) for line in lines]
    travellers = _find_travellers(lines, world)
    slashed = _find_slashed(lines, world)
    names = travellers.person or travellers.name or slashed or _find_ticketed(lines)
    names = names or travellers.customer or travellers.booked_for
    if any("/" in name for name in names):
        names = names | {name for name in slashed if has_title_behind(name)}
    number = len(_join_same({order_words(n) for n in names}))
    return Count(number, 2 if travellers.unsure else number, travellers.unsure) if number else None


def _part_role(line: str) -> str:
    """A name and the word for an adult or a child behind it, as two cells; its title in the cell of the name."""
    if len(line) <= _LONGEST and "\t" in line:
        line = _TITLE_CELL.sub(r"\1 ", line)
    if len(line) > _LONGEST or "\t" in line or line.islower():
        return line
    small = fold(line)
    match = _ROLE_APART.search(small) if len(small) == len(line) else None
    return (
        f"{line[: match.start()]}\t{line[match.end() :]}"
        if match and read_leading_name(line[: match.start()])
        else line
    )


def _find_travellers(lines: list[str], world: TravelFacts) -> _Travellers:
    """Names next to a label, under a heading, behind a title, or next to the word for an adult."""
    travellers = _Travellers()
    headings = 0
    for at, line in enumerate(lines):
        if not line.strip() or len(line) > _LONGEST:
            continue
        small = fold(line)
        if not _ANY_WORD.search(small):
            travellers.person |= _read_titled(line, small)
            continue
        names = _read_labelled(travellers, lines, at, small)
        if not names and headings < _MOST_HEADINGS and (kind := _classify_heading(small)):
            below = _read_list(travellers, lines[at + 1 : at + 1 + _LIST_LINES], world, small)
            getattr(travellers, kind).update(below)
            headings += 1
        elif not names and (titled := _read_titled(line, small)):
            travellers.person |= titled
        elif match := words.BOOKED_FOR.search(small):
            people, _ = split_people(re.split(r"[.!;](?:\s|$)", line[match.end() :])[0], "name")
            travellers.booked_for |= {n for n in people if not _is_known(n, world)}
    return travellers


def _read_titled(line: str, small: str) -> set[str]:
    """The name of a line behind a title, or before the word for an adult or a child."""
    if match := TITLED.match(small):
        name: str | None = line[match.start(1) : match.end(1)]
    else:
        name = read_leading_name(line) if _MARKED.match(small) else None
    return {name} if name and is_name(name) else set()


def _read_labelled(travellers: _Travellers, lines: list[str], at: int, small: str) -> list[str]:
    """The names behind a label of the line and in the lines right below it, which are put with the others."""
    match = _LABEL.match(small)
    kind = _classify_label(match[1]) if match else None
    if (not match or not kind) and (match := _FLAT_LABEL.match(small)):
        kind = "person"
    if not match or not kind or _IS_INFANT.search(small):
        return []
    people, unsure = split_people(lines[at][match.end() :], match[0] if match.re is _FLAT_LABEL else match[1])
    if match.re is _FLAT_LABEL and not all(n.isupper() or _is_marked(small, n) for n in people):
        return []
    if match.re is _FLAT_LABEL and any("/" in n and n not in lines[at][match.end() :][: len(n) + 12] for n in people):
        return []  # "Passenger Service Facilities Charge SW/OI"
    for line in lines[at + 1 : at + 1 + _MOST] if people and kind == "person" else []:
        below = [n for n in _read_line(line, match[0])[0] if _is_sure(line, n, people)]
        if not below or len(line) > _LONGEST:
            break
        people += below
    getattr(travellers, kind).update(people)
    travellers.unsure |= unsure and len(people) == 1
    return people


def _is_marked(small: str, name: str) -> bool:
    """Whether a line shows by more than its shape that it names a person."""
    return (
        "/" in name or "様" in small or bool(TITLED.match(small) or _ROLE.search(small) or _TICKET_NUMBER.search(small))
    )


def _is_sure(line: str, name: str, names: Iterable[str]) -> bool:
    """Whether a name below others is one: marked as such, or with the surname of another."""
    own = {w for w in fold(name).split() if w not in words.PARTICLES and len(w) > 1}
    return _is_marked(fold(line), name) or any(own & set(fold(n).split()) for n in names)


def _classify_label(label: str) -> str | None:
    """Whose name stands behind a label: that of a "person" who travels, a "name", of a "customer", None of another."""
    tokens = _WORD.findall(label)
    if not tokens or len(tokens) > 8:
        return None
    others = [t for t in tokens if t not in words.BESIDE and not _NAME.fullmatch(t)]
    people = [t for t in others if _TRAVELLER.fullmatch(t) or _ONE_OF_THEM.fullmatch(t)]
    if people:
        return "person" if len(others) - len(people) <= 1 else None
    if len(others) == 1 and _CUSTOMER.fullmatch(others[0]):
        return "customer"
    return "name" if not others and any(_NAME.fullmatch(t) for t in tokens) else None


def _classify_heading(small: str) -> str | None:
    """Whose names stand below a line or, as columns, below its first cell."""
    cells = [cell for cell in re.split(r"\t|  +", small.strip()) if cell.strip()]
    if not cells or len(cells[0]) > 60:
        return None
    if words.WHO_TRAVELS.match(cells[0]):
        return "person"
    bare = _BULLET.sub("", cells[0])
    tokens = _WORD.findall(bare)
    if not tokens or len(tokens) > 8 or re.search(r"\d{2}|[.!?]$|,", bare):
        return None
    if any(_TRAVELLER.fullmatch(t) for t in tokens) and all(_is_heading_word(t) for t in tokens):
        return "person"
    if all(_CUSTOMER.fullmatch(t) or t in words.BESIDE for t in tokens) and any(map(_CUSTOMER.fullmatch, tokens)):
        return "customer"
    is_name = all(_NAME.fullmatch(t) for t in tokens) and (not small.isascii() or any(map(_TICKET.search, cells[1:])))
    return "person" if is_name else None


def _is_heading_word(token: str) -> bool:
    return (
        token in words.BESIDE or token in words.NOT_NAMES or bool(_TRAVELLER.fullmatch(token) or _NAME.fullmatch(token))
    )


def _read_list(travellers: _Travellers, lines: list[str], world: TravelFacts, heading: str) -> set[str]:
    """The names in the lines below a heading; lines of their tickets, seats and bags may stand between them."""
    names: list[str] = []
    unsure: list[bool] = []
    unknown = 0
    strict = False  # only what is surely a name counts behind names so marked, a blank line or an unknown one
    for line in lines:
        strict |= bool(names) and not line.strip()
        if not line.strip() or len(line) > _LONGEST or _IS_INFANT.search(fold(line)):
            continue
        people, doubtful = _read_line(line, heading)
        people = [n for n in people if _is_sure(line, n, names) or not (strict or _is_other(n, names, world))]
        strict |= any(_is_marked(fold(line), n) for n in people)
        names += people
        unsure += [doubtful] if people else []
        if not people and not _is_detail(line):
            unknown += 1
            strict = True
        if not people and (_STOP.match(fold(line)) or unknown > (_MOST_UNKNOWN if names else 0)):
            break
    travellers.unsure |= unsure == [True]  # several such lines name one person each
    return set(names)


def _is_other(name: str, names: list[str], world: TravelFacts) -> bool:
    """Whether what looks like a name is that of a place or an airline, or written unlike the names above it."""
    return any(name.isupper() != n.isupper() for n in names[:1]) or _is_known(name, world)


def _read_line(line: str, heading: str) -> tuple[list[str], bool]:
    """The people of one line of a list, and whether they may be one person or two."""
    small = fold(line)
    if (match := _LABEL.match(small)) and _classify_label(match[1]):
        return split_people(line[match.end() :], match[1])
    people, unsure = split_people(_NUMBERED.sub("", line), heading)
    name = None if people else read_leading_name(line)
    return ([name], False) if name else (people, unsure)


def _is_detail(line: str) -> bool:
    """A line that tells no name: with digits, or of nothing but a letter's own words."""
    tokens = _WORD.findall(fold(line))
    return any(map(str.isdigit, line)) or all(
        t in words.NOT_NAMES or t in words.BESIDE or _ONE_OF_THEM.fullmatch(t) for t in tokens
    )


def _is_known(name: str, world: TravelFacts) -> bool:
    """Whether a name is rather that of a place or an airline."""
    covered = sum(end - start for start, end, _ in list(world.places(name.title()))[:1])
    return covered > 0.6 * len(name) or world.airline(name) is not None


def _find_slashed(lines: Iterable[str], world: TravelFacts) -> set[str]:
    """Names as tickets write them: those with a title behind them, if there are such."""
    names = {name for line in lines if "/" in line and len(line) < _LONGEST for name in read_slashed(line)}
    titled = {n for n in names if has_title_behind(n)}
    surnames = {n.split("/")[0].strip() for n in titled}  # children bear no title
    return {n for n in names if n.split("/")[0].strip() in surnames} or {
        n for n in names if not list(world.places(n.title()))
    }


def _find_ticketed(lines: list[str]) -> set[str]:
    """The names before or above the numbers of tickets; none where one of the tickets has no such name."""
    names: set[str] = set()
    for at, line in enumerate(lines):
        if len(line) < _LONGEST and _TICKET_NUMBER.search(line) and _TICKET.search(fold(line)):
            own = read_leading_name(line)
            if own and not (_TICKET.search(fold(own)) or _OF_NUMBER.search(fold(own))):
                names.add(own)
                continue
            above = [name for name in lines[max(0, at - 3) : at] if len(name) < _LONGEST and is_name(name)]
            if not above:
                return set()
            names.add(above[-1].strip())
    return names


def _join_same(names: set[str]) -> set[str]:
    """Each person once: a shorter form of a name whose words all stand in a longer one is the same person."""
    parts = {name: frozenset(name.split()) for name in names if name}
    return {n for n, own in parts.items() if not any(own < other for other in parts.values())}
