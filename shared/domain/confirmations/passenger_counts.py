"""The numbers of travellers a letter states: "2 adults, 1 child", "Reisende: 2", "大人2名"."""

import re
from itertools import islice
from typing import NamedTuple

from shared.domain.confirmations import passenger_words as words
from shared.domain.parsing.alternatives import compile_any

_ONE = r"(?:\(s\)|\(n\)|\(e?n\)|\(es\)|/in|:in)?"
_AGE = (
    r"(?!(?: ?(?:-|–|~|〜|to|bis|a|al|e|y|et|tot) ?\d{1,2})? ?"
    r"(?:jahr|years?|yrs?|y\.?o|ans?\b|anos?|ann[oi]|jaar|歳|才))"
    r"(?! ?[x×]? ?(?:bag|pc|piece|gepack|koffer|valis|mala|malet|equip|stuk|hand|carry|suitcase|個|check|meal|seat"
    r"|sitz))"
)
_END = (
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
    rf"(?<![a-z])(?:(?P<all>(?!お客様|guest|gast){words.PERSON}(?!.{{0,4}}\d ?{_SORT}))"
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
_LONGEST = 200  # a longer line tells of conditions, and counts only where nothing else does
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
    short = [line for line in lines if len(line) <= _LONGEST]
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
