"""The lines of a letter as its flights are read from them: plain signs, without old plans, stops and other clocks."""

import re
from dataclasses import dataclass

from shared.domain.parsing.text import fold

# Full-width signs of Japanese letters, the many dashes, and the blanks of web pages.
_PLAIN = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {
    ord(sign): plain
    for signs, plain in (("‐‑‒–—―−", "-"), ("\u3000\u00a0\u2007\u2009\u202f", " "), ("\u200b\u00ad\ufeff\u2060", None))
    for sign in signs
}
_HOUR_AND_MINUTE = re.compile(r"(\d{1,2})時(\d{2})分")
# What a time or a place in the same line belongs to, if not to the flight.
_ASIDE = (
    r"boarding(?! pass)|gates? (?:opens?|closes?|closing)|check-?in|bag(?:gage)? drop|counter|lounge|embarque"
    r"|embarquement"
    r"|imbarco|instappen|einstieg|boardingzeit|be at the gate|last call|meet|transfer time|latest|until"
    r"|bis spatestens"
    r"|搭乗手続|保安検査|搭乗開始|搭乗時刻|搭乗口"
)
_ASIDE_TIME = re.compile(
    rf"(?:{_ASIDE})[^\d\n\t|]{{0,40}}(?:at |by |um |a las |alle |as |om )?\d{{1,2}}[:.h]\d{{2}}(?: ?[ap]\.?m\b\.?)?"
)
_ASIDE_LABEL = re.compile(rf"^\W*(?:{_ASIDE})(?: time| closes?| closing)?\W*$")
_LENGTH = re.compile(
    r"(?:duration|total time|travel time|flight time|flying time|journey time|elapsed|dauer|flugzeit|reisezeit|duree"
    r"|temps de vol|duracion|tiempo de vuelo|durata|tempo di volo|duracao|tempo de voo|duur|reistijd|vluchtduur"
    r"|所要時間|飛行時間)[^\d\n]{0,20}\d{1,2}[^\n\t|]{0,3}?\d{0,2}(?: ?(?:h|hrs?|min|m)\b)?"
    r"|\(?\b\d{1,2} ?(?:h|hrs?|hours?|std\.?|hr|uur|ore|時間)[ ,.]{0,2}\d{1,2} ?(?:m|mins?|minutes?|minuten|分)\b\.?\)?"
    r"|\(\d{1,2}[:h]\d{2} ?h?\)|(?<![\d:.h])\b\d{1,2} ?(?:hrs?|hours?|std)\b|\b\d{1,2}h(?: ?\d{2}m)\b"
)
_STOP = re.compile(
    r"\b(?:layover|lay-over|stopover|connection time|connecting time|time between flights|change (?:planes|of plane)"
    r"|\d stops?\b|umsteige\w*|aufenthalt|correspondance|escala\b|tiempo de conexion|scalo|overstap\w*|transfer in"
    r"|tid mellan flyg|乗り継き|乗継)"
)
_OFFER = re.compile(
    r"you (?:may|might|could) (?:also )?like|(?:flights?|fares?|prices?|offers?) from [^a-z]|book (?:now"
    r"|your next)|recommended for you"
    r"|upgrade to|jetzt buchen|das konnte (?:ihnen|dir)|vous aimerez|te puede interesar|ti potrebbe|おすすめ|upgraden"
)
_OLD = (
    r"previous(?:ly)?|original(?:ly)?|old|former|no longer|earlier|cancell?ed flight|bisherig\w*|alte[rsn]?"
    r"|ursprunglich\w*|ancien(?:ne)?s?|initia(?:l|le|ux|lement)|precedent(?:e|es|s)?|anterior(?:es)?|antigu[oa]s?"
    r"|originale?s?|vecchi[oa]?|precedenti|antig[oa]s?|oude|vorige|oorspronkelijke?|変更前|旧"
)
_NEW = (
    r"new|updated|revised|now|changed to|neue[rsn]?|geanderte[rsn]?|nouve(?:au|aux|lle|lles)|modifiees?|nuev[oa]s?"
    r"|actualizad[oa]s?|nuov[oai]|aggiornat[oai]|nov[oa]s?|atualizad[oa]s?|nieuwe?|gewijzigde?|変更後|新"
)
_PLAN = (
    r"flights?|itinerary|schedule|details?|times?|departures?|arrivals?|booking|trip|journey|plan|flug\w*|reise\w*"
    r"|abflug\w*|ankunft\w*|verbindung|zeiten|vols?|horaires?|itineraire|trajet|voyage|depart|arrivee"
    r"|vuelos?|horarios?|itinerario|salida|llegada|vol[oi]|orari[oi]?|partenza|arrivo|voos?|partida|chegada"
    r"|vlucht\w*|vertrek\w*|aankomst\w*|schema|便|旅程"
)
_HEADING = re.compile(
    rf"^\W*(?:(?:your|ihre?n?|votre|vos|tus?|sus?|il tuo|o seu|uw|je)\W+)?(?:\w+\W+){{0,2}}?"
    rf"(?:(?P<old>{_OLD})|(?P<new>{_NEW}))\b(?:\W{{1,3}}(?:annul|cancel|stornier|geannul)\w*\))?(?:\W+(?:\w+\W+){{0,2}}?(?:{_PLAN})\b|\W*(?::|$))"
    rf"|^\W*(?:{_PLAN})\W+(?:\w+\W+)?(?:(?P<old2>{_OLD})|(?P<new2>{_NEW}))\b\W*(?::|$)"
    r"|^\W*(?:(?P<old3>変更前|旧)|(?P<new3>変更後|新))"
)
_COLUMN = re.compile(rf"^\W*(?:(?:{_PLAN})\W+)?(?:({_OLD})|(?:{_NEW}))(?:\W+(?:{_PLAN}))?\W*$")
_INSTEAD = re.compile(
    r"(?:\b(?:instead of|was|previously|originally|formerly|statt|bisher|au lieu de|en lugar de|en vez de|anziche"
    r"|invece di|em vez de|in plaats van)\b[^\d\n]{0,20}|~~ ?)\d{1,2}[:.h]\d{2}(?: ?[ap]\.?m\b\.?)?"
)


@dataclass(frozen=True, slots=True)
class Line:
    """One line: as written, folded, and folded without what does not tell when or where the flight goes."""

    text: str
    small: str
    bare: str

    @property
    def blank(self) -> bool:
        return not self.text.strip(" \t-=_*|")


def to_plain(text: str) -> str:
    """Full-width signs, dashes and blanks as the plain ones; Japanese clock times with a colon."""
    return _HOUR_AND_MINUTE.sub(r"\1:\2", text if text.isascii() else text.translate(_PLAIN))


def split_lines(text: str, changed: bool) -> list[Line]:
    """The lines that count; of a letter that tells of a change, without those of the old plan."""
    raw = to_plain(text).split("\n")
    smalls = [fold(line) for line in raw]
    raw = _drop_old_columns(raw, smalls)
    smalls = [fold(line) for line in raw]
    old = _find_old_lines(raw, smalls, changed)
    lines = []
    for at, (line, small) in enumerate(zip(raw, smalls, strict=True)):
        if at in old or _OFFER.search(small):
            lines.append(Line("", "", ""))
        else:
            label = next((smalls[n] for n in range(at - 1, max(-1, at - 4), -1) if smalls[n].strip()), "")
            lines.append(Line(line, small, _blank_aside(small, label)))
    return lines


def _blank_aside(small: str, above: str) -> str:
    """The line with blanks for the times of boarding, the lengths of flights and stops between them."""
    if _STOP.search(small):
        return " " * len(small)
    if not any(map(str.isdigit, small)):
        return small
    if "\t" not in small and _ASIDE_LABEL.match(above) and len(small.strip()) < 20:
        return " " * len(small)
    for pattern in (_ASIDE_TIME, _LENGTH, _INSTEAD):
        small = pattern.sub(lambda m: " " * len(m[0]), small)
    return _blank_aside_cells(small, above) if "\t" in small and "\t" in above else small


def _blank_aside_cells(small: str, above: str) -> str:
    """The cells below a heading such as Boarding or Gate."""
    cells, heads = small.split("\t"), above.split("\t")
    if any(map(str.isdigit, above)):
        return small
    aside = [at for at, head in enumerate(heads) if _ASIDE_LABEL.match(head)]
    return "\t".join(" " * len(cell) if at in aside else cell for at, cell in enumerate(cells))


def _find_old_lines(raw: list[str], smalls: list[str], changed: bool) -> set[int]:
    """The lines under a heading such as "Previous flight", to one such as "New flight" or to the end.

    Of a letter that does not call itself one of change only where it has headings of both kinds.
    """
    headings = {at: match for at, small in enumerate(smalls) if len(small) < 120 and (match := _HEADING.match(small))}
    kinds = {at: any(match[name] for name in ("old", "old2", "old3")) for at, match in headings.items()}
    if not changed and len(set(kinds.values())) < 2:
        return set()
    old: set[int] = set()
    within = False
    for at in range(len(smalls)):
        if match := headings.get(at):
            within = kinds[at]
            if within and _says_more(raw[at][match.end() :]):  # "Old departure: 10:05" is one line, no heading
                old.add(at)
                within = False
                continue
        if within:
            old.add(at)
    return old


def _drop_old_columns(raw: list[str], smalls: list[str]) -> list[str]:
    """The lines without the cells below "Old", of tables whose head tells it from "New".

    Columns are counted from the right: the head of the first, above the labels, is often empty.
    """
    out: list[str] = []
    width, columns = 0, frozenset[int]()
    for line, small in zip(raw, smalls, strict=True):
        cells = line.split("\t")
        if len(cells) > 1 and (aside := _find_old_columns(small.split("\t"))):
            width, columns = len(cells), aside
        elif line.strip() and not width <= len(cells) <= width + 1:
            width, columns = 0, frozenset()
        out.append(
            "\t".join("" if at - len(cells) in columns else cell for at, cell in enumerate(cells)) if columns else line
        )
    return out


def _find_old_columns(heads: list[str]) -> frozenset[int]:
    kinds = {
        at - len(heads): match for at, head in enumerate(heads) if len(head) < 40 and (match := _COLUMN.match(head))
    }
    old = frozenset(at for at, match in kinds.items() if match[1])
    return old if old and len(old) < len(kinds) else frozenset()


def _says_more(rest: str) -> bool:
    return bool(re.search(r"\d{1,2}[:.h]\d{2}", rest))
