"""How many nights a letter names."""

import re
from collections.abc import Iterable

from shared.domain.confirmations.clean_text import join_wrapped
from shared.domain.parsing.text import fold

NIGHT_WORD = re.compile(
    r"\b(?:nights?|nachte?n?|ubernachtung(?:en)?|nuits?|nuitees?|noches?|noites?|diarias?|nott[ei]|pernottament[io]"
    r"|overnachting(?:en)?"
    r"|rooms?|zimmer|chambres?|habitacion(?:es)?|camera|quartos?|kamers?)\b|泊|客室|部屋"
)
_NUMBERS = (
    "one two three four five six seven eight nine ten",
    "eine zwei drei vier funf sechs sieben acht neun zehn",
    "une deux trois quatre cinq six sept huit neuf dix",
    "una dos tres cuatro cinco seis siete ocho nueve diez",
    "una due tre quattro cinque sei sette otto nove dieci",
    "uma duas tres quatro cinco seis sete oito nove dez",
    "een twee drie vier vijf zes zeven acht negen tien",
)
_WORDS = {word: at + 1 for words in _NUMBERS for at, word in enumerate(words.split())}
_NIGHT = (
    r"(?:nights?|nachte?n?|ubernachtung(?:en)?|nuit(?:ee)?s?|noches?|noites?|diarias?|nott[ei]|overnachting(?:en)?)"
)
NIGHTS = re.compile(
    r"(?:number of nights|nights|(?:anzahl (?:der )?)?(?:nachte|ubernachtungen)|(?:nombre de )?nuit(?:ee)?s"
    r"|(?:numero de )?(?:noches|noites)"
    r"|(?:numero (?:di )?)?notti|(?:aantal )?(?:nachten|overnachtingen)|diarias|length of stay|duration|泊数)"
    r"\s?[:：\t]\s?(?P<label>\d{1,2})\b"
    rf"|\b(?P<plain>\d{{1,2}})[ -]?{_NIGHT}\b"
    rf"|\b(?P<word>{'|'.join(sorted(_WORDS, key=len, reverse=True))}) {_NIGHT}\b"
    r"|(?P<ja>\d{1,2})泊(?!分|あたり|につき|以上|て|\s?[\d¥])"
)
_PARTS = ("night", "nacht", "nuit", "noche", "noite", "nott", "diari", "泊", "length of", "duration")
_OTHER_NIGHTS = re.compile(
    r"cancel|storn|annul|charge|penalt|free|credit|earn|certificate|before|per night|pay|gratis|first night|minimum"
    r"|特典|無料|キャンセル|駐車|宿泊税|parking|parkplatz|estacionamiento|parcheggio"
)


def read_nights(small: str) -> set[int]:
    """The numbers of nights a folded line names, unless it speaks of other nights than those of the stay."""
    if not any(part in small for part in _PARTS) or _OTHER_NIGHTS.search(small):
        return set()
    return {int(n) if (n := m["label"] or m["plain"] or m["ja"]) else _WORDS[m["word"]] for m in NIGHTS.finditer(small)}


def list_nights(lines: Iterable[str]) -> set[int]:
    """Every number of nights the lines name."""
    return set().union(*(read_nights(fold(line)) for line in join_wrapped(list(lines))))


def find_nights(lines: Iterable[str]) -> int | None:
    """The one number of nights; None where the lines name none or several."""
    stated_nights = list_nights(lines)
    return stated_nights.pop() if len(stated_nights) == 1 and 0 not in stated_nights else None
