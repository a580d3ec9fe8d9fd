"""Cities and airports named in a line of text, each with the airports it can mean."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from shared.domain import names
from shared.reference.airports import load_metro_names
from shared.reference.reference import Reference

_WORD = re.compile(r"[^\W\d_]+(?:['’`.](?=[^\W\d_])[^\W\d_]+)*\.?")
_CODE = re.compile(r"[A-Z]{3}")
_JOIN = re.compile(r"[\s,./()\[\]'-]{0,4}")
_NOISE = frozenset(
    re.findall(
        r"\w+",
        "airport airports international intl int apt aeroport aeropuerto aeroporto flughafen luchthaven"
        " regional municipal field airfield the of de da di du and",
    )
)
# Names of cities that are other words of letters far more often.
_NOT_CITIES = frozenset(
    re.findall(
        r"\w+",
        "mobile reading page most bar police orange bath man best bay enterprise independence hope union"
        " liberty salem male victoria alexandria florence sydney marsh harrison jackson austin charlotte"
        " madison lincoln jefferson",
    )
) - frozenset(
    re.findall(
        r"\w+",
        "florence sydney austin charlotte madison victoria male jackson lincoln alexandria",
    )
)
_JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")


@dataclass(frozen=True)
class _Index:
    phrases: Mapping[str, tuple[tuple[tuple[str, ...], frozenset[str]], ...]]  # by first word, the longest first
    metros: frozenset[str]  # city codes, as they are compared
    words: Mapping[str, frozenset[str]]  # airports by each word of their own name
    ideographs: tuple[tuple[str, frozenset[str]], ...]  # names written without blanks, the longest first


@lru_cache(maxsize=2)
def _build_index(reference: Reference) -> _Index:
    phrases: dict[tuple[str, ...], set[str]] = defaultdict(set)
    words: dict[str, set[str]] = defaultdict(set)
    ideographs: dict[str, frozenset[str]] = {}
    for code, airport in reference.airports.items():
        if not reference.count_flights(code):
            continue
        phrases[tuple(names.normalize_name(airport.city).split())].add(code)
        for word in names.normalize_name(airport.name).split():
            words[word].add(code)
    for code, name in load_metro_names().items():
        phrases[tuple(names.normalize_name(name).split())] |= set(_list_members(reference, code))
        phrases[(code.lower(),)] |= set(_list_members(reference, code))  # "NYC-KENNEDY"; in capitals only
    for row in reference.rows("city_spellings.csv"):
        members = _list_members(reference, row.code)
        if _JAPANESE.search(row.name):
            ideographs[row.name] = frozenset(members)
        else:
            phrases[tuple(names.normalize_name(row.name).split())] = set(members)
    by_first: dict[str, list[tuple[tuple[str, ...], frozenset[str]]]] = defaultdict(list)
    for phrase, codes in phrases.items():
        if phrase and codes and not (len(phrase) == 1 and (phrase[0] in _NOT_CITIES or len(phrase[0]) < 3)):
            by_first[phrase[0]].append((phrase, frozenset(codes)))
    return _Index(
        {first: tuple(sorted(all_of, key=lambda p: -len(p[0]))) for first, all_of in by_first.items()},
        frozenset(code.lower() for code in load_metro_names()) - {"rom"},
        {word: frozenset(codes) for word, codes in words.items() if word not in _NOISE and len(word) > 2},
        tuple(sorted(ideographs.items(), key=lambda p: -len(p[0]))),
    )


def _list_members(reference: Reference, code: str) -> list[str]:
    """The airports of a city that airlines here are known to fly to; all of them where none is known."""
    members = reference.city(code) if code in reference.metros or code in reference.airports else ()
    return [m for m in members if reference.count_flights(m)] or list(members)


_lower = lru_cache(maxsize=65_536)(names.normalize_name)


def find_places(reference: Reference, text: str) -> Iterator[tuple[int, int, frozenset[str]]]:
    """Start, end and the airports of each place named, from left to right. "London Heathrow" is one place."""
    index = _build_index(reference)
    if _JAPANESE.search(text):
        yield from _find_ideographs(index, text)
        return
    words = [(m.start(), m.end(), _lower(m[0].rstrip("."))) for m in _WORD.finditer(text)]
    at = 0
    while at < len(words):
        size, codes = _match_phrase(index, words, at, text)
        if not size:
            at += 1
            continue
        start, end, at = words[at][0], words[at + size - 1][1], at + size
        at, end, codes = _extend(index, words, at, end, codes, text)
        start, codes = _look_back(index, words, start, codes, text)
        yield start, end, codes


def _match_phrase(index: _Index, words: list[tuple[int, int, str]], at: int, text: str) -> tuple[int, frozenset[str]]:
    """How many words from here are the name of a city, and its airports."""
    if not text[words[at][0]].isupper():
        return 0, frozenset()
    for phrase, codes in index.phrases.get(words[at][2], ()):
        written = words[at : at + len(phrase)]
        code = len(phrase) == 1 and len(phrase[0]) == 3 and not text[written[0][0] : written[0][1]].isupper()
        if tuple(word for _, _, word in written) == phrase and not (code and phrase[0] in index.metros):
            return len(phrase), codes
    return 0, frozenset()


def _extend(
    index: _Index, words: list[tuple[int, int, str]], at: int, end: int, codes: frozenset[str], text: str
) -> tuple[int, int, frozenset[str]]:
    """The words behind a city that name one of its airports, or its code."""
    reach = at
    while reach < len(words) and reach < at + 5 and _JOIN.fullmatch(text[end : words[reach][0]]):
        start, stop, word = words[reach]
        narrowed = codes & _find_airports_of(index, text[start:stop], word)
        size, city = _match_phrase(index, words, reach, text)
        if not narrowed and size and not codes & city:
            break
        if size and codes & city and not narrowed:
            narrowed, stop, reach = codes & city, words[reach + size - 1][1], reach + size - 1
        if not narrowed and word not in _NOISE and len(word) > 2:
            break
        codes, end, reach = narrowed or codes, stop, reach + 1
    return max(at, reach), end, codes


def _look_back(
    index: _Index, words: list[tuple[int, int, str]], start: int, codes: frozenset[str], text: str
) -> tuple[int, frozenset[str]]:
    """The words before a city that name one of its airports: "Heathrow (London)"."""
    for first, stop, word in reversed([w for w in words if w[1] <= start][-4:]):
        narrowed = codes & _find_airports_of(index, text[first:stop], word)
        if not _JOIN.fullmatch(text[stop:start]) or not (narrowed or word in _NOISE or len(word) < 3):
            break
        start, codes = first, narrowed or codes
    return start, codes


def _find_airports_of(index: _Index, written: str, word: str) -> frozenset[str]:
    own = frozenset([written]) if _CODE.fullmatch(written) else frozenset[str]()
    return own | index.words.get(word, frozenset())


def _find_ideographs(index: _Index, text: str) -> Iterator[tuple[int, int, frozenset[str]]]:
    """Names written without blanks between them; "東京 (羽田)" is one place."""
    places: list[tuple[int, int, frozenset[str]]] = []
    at = 0
    while at < len(text):
        name, codes = next(((n, c) for n, c in index.ideographs if text.startswith(n, at)), ("", frozenset[str]()))
        if not name:
            at += 1
            continue
        last = places[-1] if places else None
        if last and codes & last[2] and re.fullmatch(r"[\s/・()（）-]{0,3}(?:国際)?(?:空港)?", text[last[1] : at]):
            places[-1] = (last[0], at + len(name), codes & last[2])
        else:
            places.append((at, at + len(name), codes))
        at += len(name)
    yield from places


def find_by_own_word(reference: Reference, text: str) -> str | None:
    """The airport of which alone the words in capital letters are: "Guarulhos Intl", "Barajas"."""
    index = _build_index(reference)
    words = {_lower(m[0].rstrip(".")) for m in _WORD.finditer(text) if m[0][0].isupper()}
    codes = [index.words[word] for word in words if len(word) > 5 and word in index.words]
    single = {code for some in codes if len(some) == 1 for code in some}
    return single.pop() if len(single) == 1 else None
