"""The type of the room of a stay, where a label names it."""

import re
from collections.abc import Sequence

from shared.domain.confirmations.clean_text import to_one_line
from shared.domain.confirmations.stay_labels import ROOM, is_label, read_cells
from shared.domain.parsing.text import fold

# "2 rooms", "1 Zimmer, 2 Erwachsene", "Room 1", "310.00 GBP": how many, which or how much, and no type.
_COUNT = re.compile(
    r"\W*(?:(?:\d{1,2}|number|anzahl|nombre|numero|aantal|of|de|di|x|and|und|et|y|e|en|/|rooms?|zimmer|chambres?"
    r"|habitacion(?:es)?"
    r"|camer[ae]|quartos?|kamers?|室|部屋|名|adults?|erwachsene[rn]?|adultes?|adultos?|adulti?|volwassenen?|personen"
    r"|persons?"
    r"|personnes?|personas?|persone|pessoas?|guests?|gaste?|nights?|nachte?n?|nuits?|noches?|noites?|nott[ei]"
    r"|child(?:ren)?"
    r"|kind(?:er)?|大人|booked|reserved)\W*)+"
)
_LABEL_AGAIN = re.compile(rf"^(?:{ROOM})\s?[:：]\s*", re.I)
_AMOUNT = re.compile(r"\W*(?:[a-z]{3} ?)?[\d.,' ]+ ?(?:[a-z]{3}|円|€|£)?\W*|.*\d[.,]\d\d ?(?:[a-z]{3}|€)?\W*$")
_KIND = (
    r"(?:double|twin|single|triple|king|queen|deluxe|superior|standard|standaard|classic|comfort|family|familien?"
    r"|executive"
    r"|premier|premium|junior|doppel|einzel|zweibett|doble|individual|doppia|singola|matrimoniale|duplo|luxe)"
)
_TITLE = re.compile(
    rf"(?:1 x )?(?:[\w-]+ ){{0,2}}{_KIND}[\w ,-]{{0,20}}? ?(?:room|zimmer|kamer|suite|studio)(?:,? [\w ,-]{{0,24}})?"
    rf"|(?:1 x )?(?:chambre|camera|habitacion|quarto) (?:\w+ )?{_KIND}[\w ,-]{{0,24}}|(?:[\w-]+ )?(?:een"
    rf"|twee)persoonskamer"
)
_NUMBERED = re.compile(
    r"\W*(?:room|zimmer|kamer|suite|studio|chambre|camera|habitacion|quarto) \d"
)  # a label and its value
_ROOM_COUNT = re.compile(
    r"(?<![\d.,])(\d) ?(?:rooms|zimmer|chambres|habitaciones|camere|quartos|kamers|部屋|室)(?![a-z])"
)
_PRICE_BEHIND = re.compile(r"(?<=[^\W\d])\s+(?:(?:[A-Z]{3}|[€£$¥])\s?\d[\d.,']*|\d[\d.,']*\s?(?:[A-Z]{3}|[€£円]))\s*$")
_COUNTED = re.compile(r"^1 x ")
_GLUED = re.compile(  # forwards put one blank between the cells of a row
    r"^\W*(?:room type|room category|zimmertyp|zimmerkategorie|type de chambre|tipo de habitacion|tipo de quarto"
    r"|kamertype"
    r"|tipo(?:logia)?(?: di)? camera|(?P<word>quarto|habitacion|camera|kamer|zimmer|chambre"
    r"|room)(?= (?P=word)))\s+(?=\S)"
)


def find_room(lines: Sequence[str]) -> str | None:
    """What a label calls the room; None where rooms of several types are booked."""
    values = [value for cell in read_cells(lines, "room") if (value := _clean_type(cell))]
    if not values:
        values = [v for line in lines if (m := _GLUED.match(fold(line))) and (v := _clean_type(line[m.end() :]))][:1]
    return values[0] if values else _find_title(lines)


def _find_title(lines: Sequence[str]) -> str | None:
    """The short line that names a room and nothing else; several where the letter counts as many rooms."""
    lines = [_PRICE_BEHIND.sub("", line) for line in lines if len(line) < 60]
    short = [line for line in lines if not _NUMBERED.match(fold(line))]
    titles = [to_one_line(line, 60) for line in short if _TITLE.fullmatch(fold(line).strip(" *_"))]
    types = list(dict.fromkeys(_COUNTED.sub("", title.strip(" *_")) for title in titles))
    counts = {int(n) for line in lines for n in _ROOM_COUNT.findall(fold(line))}
    is_whole = counts == {len(titles)} if len(types) > 1 else len(titles) > 1 or max(counts, default=1) < 2
    return ", ".join(types) or None if is_whole and len(types) < 4 else None


def _clean_type(cell: str) -> str | None:
    value = _LABEL_AGAIN.sub("", to_one_line(re.split(r"(?<=\w)\*\s", cell)[0], 120).strip(" *_|"))
    small = fold(value)
    if not re.search(r"[^\W\d_]{3}|[^\W\d_a-z]{2}", small) or _COUNT.fullmatch(small) or _AMOUNT.fullmatch(small):
        return None
    before = re.split(r"[:：]", value)[0]  # the line below an empty label may be another label and its value
    return None if is_label(value) or (before != value and is_label(before)) else value
