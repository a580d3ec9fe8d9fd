"""What a letter of a change says of the plan as it was, told from the plan as it is from now on."""

import re

from shared.domain.parsing.text import fold

_OLD = (
    r"previous(?:ly)?|original(?:ly)?|old|former|no longer|earlier|cancell?ed (?:flight|departure)|bisherig\w*"
    r"|alt(?:e[rsn]?)?"
    r"|vorherig\w*|ursprunglich\w*|gestrichen\w*|annullierte[rsn]?|stornierte[rsn]?|ancien(?:ne)?s?"
    r"|initia(?:l|le|ux|lement)|precedent(?:e|es|s|emente)?|annulee?s?|supprimee?s?|anterior(?:es|mente)?"
    r"|antigu[oa]s?|previst[oa] (?:antes|originalmente)|cancelad[oa]s?|originale?s?|vecchi[oa]?|precedenti"
    r""
    r"|annullat[oaie]|cancellat[oaie]|antig[oa]s?|oude?|vorige|eerdere?|oorspronkelijke?|geannuleerde"
    r"|変更前の?|旧|欠航"
)
_NEW = (
    r"new|updated|revised|now|changed to|replacement|proposed|alternative|neu(?:e[rsn]?)?|geanderte[rsn]?|jetzt"
    r"|ersatz\w*"
    r"|nouve(?:au|aux|lle|lles|l)|modifiees?|desormais|maintenant|nuev[oa]s?|ahora|asignad[oa]s?|alternativ[oa]s?"
    r"|actualizad[oa]s?|nuov[oai]|adesso|aggiornat[oai]|nov[oa]s?|agora|atualizad[oa]s?|nieuwe?|nu|gewijzigde?"
    r"|変更後の?|新しい|新|振替|代替"
)
_FIELD = (
    r"check-?in(?: date)?|check-?out(?: date)?|dates?|times?|departures?(?: time| date)?|arrivals?(?: time| date)?"
    r"|departs|arrives|abflug\w*|ankunft\w*|anreise\w*|abreise\w*|datum|zeit"
    r"|depart|arrivee|dates? d'arrivee|dates? de depart|(?:hora|fecha) de (?:salida|llegada|entrada)|salida|llegada"
    r"|entrada|fechas?|hora|(?:ora|data|orario) di (?:partenza|arrivo)|partenza|arrivo|data|partida|chegada|saida"
    r"|horario"
    r"|vertrek\w*|aankomst\w*|出発\w*|到着\w*"
)
# Words that are also "before" and "after" of other things: they count alone in their line or cell.
_BEFORE = r"before|vorher|zuvor|avant|antes|prima|voorheen|eerder|current"
_AFTER = r"after|now|nachher|jetzt|apres|maintenant|despues|ahora|dopo|adesso|depois|agora|nu|proposed"
_PLAN = (
    r"flights?|itinerary|schedule|details?|booking|trip|journey|plan|stay|reservation|flug\w*|fluge|reise\w*"
    r"|verbindung|zeiten|aufenthalt|reservierung|buchung|vols?|horaires?|itineraire|trajet|voyage|sejour"
    r"|vuelos?|horarios?|itinerario|estancia|reserva|vol[oi]|orari[oi]?|soggiorno|prenotazione|voos?|estadia"
    rf"|vlucht\w*|verblijf|reservering|boeking|schema|便|旅程|予約|{_FIELD}"
)
_HEADING = re.compile(
    rf"^\W*(?:(?:your|ihre?n?|votre|vos|tus?|sus?|il tuo|o seu|uw|je)\W+)?(?:\w+\W+){{0,2}}?"
    rf"(?:(?P<old>{_OLD})|(?P<new>{_NEW}))\b(?:\W{{1,3}}(?:annul|cancel|stornier"
    rf"|geannul)\w*\))?(?:\W+(?:\w+\W+){{0,2}}?(?:{_PLAN})\b|\W*(?::|$))"
    rf"|^\W*(?:{_PLAN})\W+(?:\w+\W+)?(?:(?P<old2>{_OLD})|(?P<new2>{_NEW}))\b\W*(?::|$)"
    r"|^\W*(?:(?P<old3>変更前|旧|欠航便)|(?P<new3>変更後|新|振替便|代替便))"
    rf"|^\W*(?:(?P<old4>{_BEFORE})|(?P<new4>{_AFTER}))\s?(?:[:\t]|$)"
)
_ONE_FIELD = re.compile(rf"(?:^|\W)(?:{_FIELD})\W{{0,3}}$")
_COLUMN = re.compile(
    rf"^\W*(?:(?:{_PLAN})\W+)?({_OLD}|{_BEFORE})(?:\W+(?:{_PLAN}))?\W*$"
    rf"|^\W*(?:(?:{_PLAN})\W+)?(?:{_NEW}|{_AFTER})(?:\W+(?:{_PLAN}))?\W*$"
)
_TIME = r"\d{1,2}[:.h]\d{2}(?: ?[ap]\.?m\b\.?)?"
_LINK = r"\W{0,4}(?:(?:at|um|a las?|alle|as|om|ab) )?"
INSTEAD = re.compile(
    r"(?:(?<![a-z])(?:instead of|was|previously|formerly|originally|statt|bisher|au lieu de|en lugar de|en vez de"
    r"|anziche"
    r"|invece di|em vez de|in plaats van|anteriormente|precedentemente|initialement|oorspronkelijk)\b[^\d\n]{0,20}"
    rf"|\(\W{{0,2}}(?:{_OLD}|{_BEFORE})(?![a-z])[^\d\n)]{{0,20}}|(?<![a-z])(?:{_PLAN})\W+(?:{_OLD}){_LINK}"
    rf"|(?<![a-z])(?:{_OLD})\W+(?:{_PLAN}){_LINK}|(?<![a-z])(?:{_OLD}|{_BEFORE})\s?:\s?|変更前\W{{0,3}}|~~ ?){_TIME}"
)
_MOVED = re.compile(
    rf"{_TIME}(?: ?uhr)?(?= ?(?:->|=>|→|➔|➝|➜|⇒|»|▶|~>|to|auf|a las|naar|alle|para as) ?(?:las )?{_TIME})"
)
_ANEW = re.compile(rf"(?<![a-z])(?:{_NEW})(?![a-z])")
_ENDS = re.compile(rf"^\W*(?:{_FIELD})(?![a-z])")
_NEW_LABEL = re.compile(
    rf"^\W*(?:(?:your|ihre?n?|votre|tus?|sus?|la tua|la sua|uw|je)\W+)?(?:{_NEW})\W+(?=(?:{_FIELD})\b)", re.M
)
_NEW_BEHIND = re.compile(rf"^(\W*(?:{_FIELD})) \(?(?:{_NEW})\)?(?=\s?[:\t])", re.M)


def drop_old_plan(text: str) -> str:
    """The text of a letter of a change without the old plan, and without the word "new" before what is valid now."""
    raw = drop_old_columns(text.split("\n"))
    smalls = [fold(line) for line in raw]
    old = find_old_lines(raw, smalls, changed=True)
    pairs = enumerate(zip(raw, smalls, strict=True))
    return "\n".join("" if at in old else _blank_old(line, small) for at, (line, small) in pairs)


def _blank_old(line: str, small: str) -> str:
    """A line without the times and the words "new" that tell what was before from what is now."""
    marks = [m.span() for m in INSTEAD.finditer(small)]
    marks += [m.span() for m in _MOVED.finditer(small)] if _ENDS.match(small) else []
    if match := _NEW_LABEL.match(small):
        marks.append(match.span())
    if match := _NEW_BEHIND.match(small):
        marks.append((match.end(1), match.end()))
    for start, end in sorted(marks, reverse=True):
        line = line[:start] + line[end:]
    return line


def find_old_lines(raw: list[str], smalls: list[str], changed: bool) -> set[int]:
    """The lines under a heading such as "Previous flight", to one such as "New flight" or to the end.

    Of a letter that does not call itself one of change only where it has headings of both kinds.
    """
    headings = {at: match for at, small in enumerate(smalls) if len(small) < 120 and (match := _HEADING.match(small))}
    kinds = {at: any(match[name] for name in ("old", "old2", "old3", "old4")) for at, match in headings.items()}
    if not changed and len(set(kinds.values())) < 2:
        return set()
    old: set[int] = set()
    within = False
    for at in range(len(smalls)):
        if match := headings.get(at):
            within = kinds[at]
            if within and _says_more(raw[at], match):  # "Old departure: 10:05" is one line, no heading
                old |= set() if _ANEW.search(smalls[at], match.end()) else {at}  # "Old: 10:05, new: 10:50"
                within = False
                continue
        if within:
            old.add(at)
    return old


def drop_old_columns(raw: list[str]) -> list[str]:
    """The lines without the cells below "Old", of tables whose head tells it from "New".

    Columns are counted from the right: the head of the first, above the labels, is often empty.
    """
    out: list[str] = []
    width, columns = 0, frozenset[int]()
    for line in raw:
        cells = line.split("\t")
        if len(cells) > 1 and (aside := _find_old_columns(fold(line).split("\t"))):
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


def _says_more(line: str, heading: re.Match[str]) -> bool:
    """Whether the line of an old value names it, so that none stands below it."""
    rest = line[heading.end() :]
    return bool(re.search(r"\d{1,2}[:.h]\d{2}", rest) or (_ONE_FIELD.search(heading[0]) and re.search(r"\d", rest)))
