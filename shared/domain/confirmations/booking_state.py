"""What a letter says became of its bookings: proof that they were made, and marks that they were not.

Proof comes first, as no list of marks is whole. A mark counts where it stands: a name such as "quotation" in the title
or the opening of a letter and in a line of its own, a statement about the booking anywhere, and a word or code of state
at the flight in whose lines it stands.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from shared.domain.confirmations.clean_text import join_wrapped, to_one_line
from shared.domain.confirmations.forwarding import Text
from shared.domain.confirmations.letter_actions import SUPPOSED, says_cancelled, says_changed
from shared.domain.confirmations.letter_languages import IDEOGRAPHS, WORDS, compile_words, join_words
from shared.domain.confirmations.model import PARTLY_CANCELLED, BookedLeg, Booking, Doubt
from shared.domain.confirmations.other_letters import EXTRA
from shared.domain.parsing.text import fold

MAX_CHARACTERS = 60_000  # of one text; confirmations say what they are long before
_SHORT = 70  # characters of a title or of a line of state
_OPENING = 1_500  # characters
_NO_PROOF = Doubt("not_confirmed", "The letter does not say that the booking was made.")
_NOT_YET = "The letter says that nothing was booked yet."
_CALLED_OFF = "The letter marks the booking as cancelled."
_BREAK = re.compile(r"[!?;\n\t|。！？]|\.(?=\s|$)| - ")
_LABEL = r"(?:[a-z./ ]{0,30}(?:status|state|estado|stato|statut|etat|статус|durum)[a-z ]{0,12}[:\t -]+)?"
_YOUR = (
    r"(?:your|the|our|ihr|ihre|dein|deine|unser|votre|notre|le|su|tu|nuestr[oa]|el|il|la|i?l tu[oa]|la tua|il suo"
    r"|la sua|o seu|a sua|o|a|uw|je|ons|onze|din|ditt|deres|twoj\w?|wasz\w?|vas\w*) "
)
_BEHIND_NAME = (
    r"(?:[ :#]{1,3}(?:n[ro°º.]{1,2} ?)?[\w./-]*\d[\w./-]*)?(?: (?:for|to|de|d'|di|da|do|des|du|van|voor"
    r"|fur|zu|zur|til|till|o) ?(?:\w+ ?){1,3}| [a-z]{4,10})?"
)
# States of a flight in the answers of reservation systems (IATA AIRIMP): held, waiting, and not held.
_CODE = re.compile(
    r"(?<![A-Za-z0-9])(?:(?P<made>HK|KK|KL|RR|TK|SS|HS)|(?P<wait>HL|WL|LL|HN|PN|GN|NN|DW|UU|TL|SA)"
    r"|(?P<off>UN|UC|NO|HX|XX|UX|XL|XK))\d{1,2}(?![A-Za-z0-9])"
)
_PRINTED = re.compile(
    r"(?<!\d)\d{1,2}[A-Z]{3}(?![A-Z])|(?<![A-Z])[A-Z]{6}(?![A-Z])|(?<![A-Z])[A-Z]{3} ?[-/ ] ?[A-Z]{3}(?![A-Z])"
)
_FAR = 12  # lines from a flight's number to its state


class _Patterns(NamedTuple):
    """The words of one language, compiled."""

    proof: re.Pattern[str]
    paper: re.Pattern[str]
    called: re.Pattern[str]  # "this is a quotation"
    undoes: re.Pattern[str]


@lru_cache(maxsize=1)
def _compile_languages() -> list[_Patterns]:
    return [
        _Patterns(
            compile_words(words.proof),
            compile_words(words.paper),
            re.compile(rf"{fold(words.is_a)}(?:\w+ )?(?:{fold(words.paper)})"),
            compile_words(words.undoes),
        )
        for words in WORDS.values()
    ]


@lru_cache(maxsize=1)
def _compile_titles() -> re.Pattern[str]:
    """A line that is the name of a paper which is no booking, in any language, and nothing more."""
    names = "|".join(f"{fold(words.paper)}|{fold(words.state)}" for words in WORDS.values())
    return re.compile(rf"[^\w\n]*{_LABEL}(?:{_YOUR})?(?:{names}){_BEHIND_NAME}[^\w\n]*")


@lru_cache(maxsize=1)
def _compile_unmade() -> re.Pattern[str]:
    """All languages at once: over a letter of 100 kB 4 ms, where one after the other took 9."""
    return join_words("unmade")


def _list_languages(folded: str) -> list[_Patterns]:
    """Those a text can be in: one without a letter of East Asia is in none of its languages."""
    has_ideographs = IDEOGRAPHS.search(folded) is not None
    return [words for words in _compile_languages() if has_ideographs or not IDEOGRAPHS.search(words.proof.pattern)]


@lru_cache(maxsize=1)
def _compile_off() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A line or a cell that is nothing but the word that a flight is off; and the word in brackets or at an end."""
    off = "|".join(fold(words.off) for words in WORDS.values())
    flight = (
        rf"(?:(?:{_YOUR}|this )?(?:flight|segment|leg|flug|vol|vuelo|volo|voo|vlucht|lot|let|jarat|zbor|lento) )?"
        r"(?:(?:is|was|has been|wurde|est|a ete) )?"
    )
    return re.compile(rf"[^\w\n]*{_LABEL}{flight}(?:{off})[^\w\n]*"), re.compile(
        rf"[(\[*-] ?(?:{off})\b|\b(?:{off})[^\w\n]*$"
    )


def _cut_sentence(folded: str, match: re.Match[str]) -> tuple[int, int]:
    """Where the sentence, the line or the cell of a match begins and ends."""
    breaks = list(_BREAK.finditer(folded, max(0, match.start() - 300), match.start()))
    start = breaks[-1].end() if breaks else max(0, match.start() - 300)
    end = _BREAK.search(folded, match.end())
    return start, min(end.start() if end else len(folded), match.end() + 300)


def says_made(folded: str) -> bool:
    """Whether a text states in any language that something was booked, ticketed or paid, and not that it will be.

    Most letters say so in their first lines, and then their terms need not be searched.
    """
    opening = folded[: folded.rfind("\n", 0, _OPENING) + 1]
    return _has_proof(opening) or _has_proof(folded)


def _has_proof(folded: str) -> bool:
    undone: dict[
        tuple[int, int], bool
    ] = {}  # by sentence: whether a language in which it speaks of a booking undoes it
    for words in _list_languages(folded):
        for match in words.proof.finditer(folded):
            start, end = _cut_sentence(folded, match)
            is_undone = words.undoes.search(folded[start:end]) or SUPPOSED.search(folded[start : match.start()])
            undone[start, end] = bool(is_undone) or undone.get((start, end), False)
    return not all(undone.values())


def _find_statement(folded: str) -> str | None:
    """The first sentence that says of a booking that it is not made; terms about such bookings do not count."""
    for pattern in (_compile_unmade(), *(words.called for words in _list_languages(folded))):
        for match in pattern.finditer(folded):
            start, end = _cut_sentence(folded, match)
            sentence = folded[start:end]
            if not SUPPOSED.search(folded[start : match.start()]) and not EXTRA.search(sentence):
                return sentence
    return None


def _find_title(lines: Sequence[str], opening: int) -> str | None:
    """The first line that names a paper which is no booking: short in the opening, nothing more below it."""
    for at, line in enumerate(lines):
        if len(line) > _SHORT or not line.strip():
            continue
        if _compile_titles().fullmatch(line):
            return line
        if at < opening and not EXTRA.search(line) and any(w.paper.search(line) for w in _compile_languages()):
            return line
    return None


def find_mark(whole: str, folded: str, bookings: Sequence[Booking]) -> str | None:
    """What a letter, its subject first, says against its bookings, as it has it."""
    subject, *lines = folded.split("\n")
    names = [pattern for b in bookings if (pattern := _build_name(b))]
    named = [at for at, line in enumerate(lines) if any(pattern.search(line) for pattern in names)]
    opening = max(named, default=folded[:_OPENING].count("\n"))
    mark = _find_title([subject], 1) or _find_statement(folded) or _find_title(lines, opening)
    at = folded.find(mark) if mark else 0
    return to_one_line(whole[at : at + len(mark)], 120) if mark else None


def _build_name(booking: Booking) -> re.Pattern[str] | None:
    """What a folded line that names the booking holds; None where the booking has no name."""
    if not isinstance(booking, BookedLeg):
        return re.compile(re.escape(fold(booking.hotel_name))) if booking.hotel_name else None
    number = re.fullmatch(r"([A-Z0-9]{2})0*(\d{1,4})", booking.flight_number or "")
    return re.compile(rf"(?<![a-z0-9]){number[1].lower()} {{0,4}}-?0*{number[2]}(?!\d)") if number else None


def find_states(body: str, legs: Sequence[BookedLeg]) -> dict[str, set[str]]:
    """For each flight's number the states that its lines give it: "off", "wait" or "made"."""
    raw = body[:MAX_CHARACTERS].split("\n")
    lines = [fold(line) for line in raw]
    numbers = {leg.flight_number or "": leg for leg in legs}
    patterns = {name: pattern for name, leg in numbers.items() if (pattern := _build_name(leg))}
    for name, pattern in patterns.items():
        if not any(map(pattern.search, lines)):  # by the airline's name or its code of three letters
            patterns[name] = re.compile(rf"(?<![a-z])[a-z]{{3,}} {{0,4}}-?0*{name[2:].lstrip('0')}(?![.,]?\d)")
    named = [[name for name, pattern in patterns.items() if pattern.search(line)] for line in lines]
    states: dict[str, set[str]] = {}
    placed = [(at, state) for at in range(len(lines)) for state in _list_states(raw[at], lines[at], bool(named[at]))]
    first = next((at for at, names in enumerate(named) if names), 0)
    above = bool(placed) and placed[0][0] < first and not any(named[placed[0][0]])
    for at, state in placed:
        for name in _find_owners(at, lines, named, above):
            states.setdefault(name, set()).add(state)
    return states


def _list_states(raw: str, folded: str, is_of_flight: bool) -> Iterator[str]:
    whole, within = _compile_off()
    cells = [cell for cell in folded.split("\t") if len(cell) <= _SHORT]
    if any(whole.fullmatch(cell) for cell in cells):
        yield "off"
    elif is_of_flight and len(folded) <= 3 * _SHORT:
        match = within.search(folded)
        if says_cancelled(folded) or (match and not SUPPOSED.search(folded[: match.start()])):
            yield "off"
    for match in _CODE.finditer(raw):
        if _PRINTED.search(raw) or raw.strip() == match[0] or match[0] in raw.split("\t"):
            yield str(match.lastgroup)


def _find_owners(at: int, lines: list[str], named: list[list[str]], above: bool) -> list[str]:
    """The flights of a line of state: those of its own line, of its paragraph, or the nearest one."""
    if named[at]:
        return named[at]
    start, end = at, at + 1
    while start > 0 and lines[start - 1].strip():
        start -= 1
    while end < len(lines) and lines[end].strip():
        end += 1
    paragraph = list(dict.fromkeys(name for names in named[start:end] for name in names))
    if len(paragraph) == 1:
        return paragraph
    reach = range(at + 1, min(len(lines), at + _FAR)) if above else range(at - 1, max(-1, at - _FAR), -1)
    return next((named[n] for n in reach if named[n]), [])


def judge_states(bookings: list[Booking], texts: Sequence[Text], proved: bool) -> tuple[list[Booking], list[Doubt]]:
    """The bookings without those a letter calls off, and what has to be asked before any is stored.

    `proved`: data of the mail say that the booking was made.
    """
    living = [b for b in bookings if b.action != "cancel"]
    if not living:
        return bookings, []
    doubts: list[Doubt] = []
    legs = [b for b in living if isinstance(b, BookedLeg) and b.flight_number]
    states: dict[str, set[str]] = {}
    for text in texts if legs else ():
        for name, stated in find_states(text.body, legs).items():
            states.setdefault(name, set()).update(stated)
    off = [leg for leg in legs if "off" in states.get(leg.flight_number or "", ())]
    if off and len(off) < len(living):
        bookings = [b for b in bookings if b not in off]
        doubts.append(PARTLY_CANCELLED)
    elif off:
        doubts.append(Doubt("action", _CALLED_OFF, ("create", "cancel")))
    waiting = [leg.flight_number or "" for leg in legs if "wait" in states.get(leg.flight_number or "", ())]
    doubts += [Doubt("not_confirmed", "The flight waits for a seat.", (), name) for name in waiting]
    wholes = ["\n".join([text.subject, *join_wrapped(text.body[:MAX_CHARACTERS].split("\n"))]) for text in texts]
    pairs = [(whole, fold(whole)) for whole in wholes]
    mark = next((m for whole, folded in pairs if (m := find_mark(whole, folded, living))), None)
    if mark:
        doubts.append(Doubt("not_confirmed", _NOT_YET, (mark,)))
    elif (
        not proved
        and not any("made" in stated for stated in states.values())
        and not any(_proves(folded) for _, folded in pairs)
    ):
        doubts.append(_NO_PROOF)
    return bookings, doubts


def _proves(folded: str) -> bool:
    """Whether a text says that a booking was made, or that one made before was changed."""
    return says_made(folded) or says_changed(folded[:_OPENING])
