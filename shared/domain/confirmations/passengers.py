"""How many people a booking is for: a count the letter states, or the names it lists."""

import re

from shared.domain.confirmations.flight_lines import to_plain
from shared.domain.confirmations.model import TravelFacts
from shared.domain.parsing.text import fold

_ALL = (
    r"passengers?|travell?ers?|guests?|customers?|reisende[rn]?|passagier[es]?|fluggaste?|passagers?|voyageurs?"
    r"|pasajeros?|viajeros?|clientes|passageiros?|viajantes?|passegger[io]|viaggiator[ei]|reizigers?|resenarer"
    r"|搭乗者|お客様|こ搭乗者|旅客"
)
_ADULT = r"adults?|erwachsene[rn]?|adultes?|adultos?|adult[io]|volwassenen?|大人"
_WHO = rf"{_ALL}|{_ADULT}"
_CHILD = (
    r"child(?:ren)?|youths?|young adults?|teen(?:ager)?s?|seniors?|students?|kind(?:er)?|jugendliche[rn]?|enfants?"
    r"|jeunes?|nin[oa]s?|jovenes|criancas?|bambin[aeio]|ragazz[aeio]|kinderen|小児|子供|こ?とも"
)
_LABELLED = re.compile(
    rf"^[^\w\n]*(?:(?:number|no\.?|total|anzahl|nombre|numero|n[°º]|aantal) (?:of |der |de |di |von "
    rf"|van )?)?(?:{_WHO})\W{{0,3}}[:\t]\s{{0,4}}(\d)(?![\d.,:/])"
    rf"(?! ?(?:{_CHILD}))[^\w\n]*(?:\(|{_WHO}|名|$)",
    re.M,
)
_IN_BRACKETS = re.compile(rf"^[^\w\n]*(?:{_ALL}) ?\((\d)\)\s?(?::|$)", re.M)  # "Pasajeros (3): ..."
_LABELLED_CHILD = re.compile(rf"^[^\w\n]*(?:{_CHILD})(?:\(s\)|\(n\)|\(en\))?\s?[:\t]\s{{0,4}}(\d)(?![\d.,:/])", re.M)
_COUNTED = re.compile(rf"(?<![\d.,/-])(\d) ?(?:x ?)?(?:x )?(?:({_ALL})|{_ADULT})(?:\(s\)|\(n\)|\(en\))?(?![a-z])")
_COUNTED_CHILD = re.compile(rf"(?<![\d.,/-])(\d) ?(?:x ?)?(?:{_CHILD})(?:\(s\)|\(n\)|\(en\))?(?![a-z])")
_PERSONS = re.compile(
    r"(?:for|fur|pour|para|per|voor) (\d) (?:people|persons?|personen|personnes|personas|pessoas|persone)\b|(\d) ?名様?"
)
_TITLE = (
    r"(?:mr|mrs|ms|miss|de heer|mevrouw|meneer|de hr|mstr|dr|herr|frau|hr|m|mme|mlle|monsieur|madame"
    r"|sr|sra|srta|senor|senora|sig|sig\.ra|dhr|mevr|mw|mvr)"
)
_NAME_WORD = r"[^\W\d_][^\W\d_'’-]*(?:['’-][^\W\d_]+)*"
_NAME = rf"{_NAME_WORD}(?: {_NAME_WORD}){{1,4}}"
_TITLED = re.compile(rf"^\W*(?:\d{{1,2}} ?[.):]?\s*)?{_TITLE}\.? +({_NAME})\s*(?:\(|,|\t|\||-|$|  )")
_CAPITALS = r"[A-ZÀ-Þ][A-ZÀ-Þ'’-]+"
_SLASHED = re.compile(
    rf"(?<![A-Za-zÀ-Þ/])({_CAPITALS}(?:\s{_CAPITALS}){{0,3}}\s?/\s?{_CAPITALS}(?:\s{_CAPITALS}){{0,3}})(?=\s*(?:\("
    rf"|,|\t"
    rf"|\||\*|$|  |様|\d\.\d))"
)
_HEAD = re.compile(
    r"^\W*(?:(?:flight |your |ihre |vos |sus |tus |os seus |i tuoi |uw )?"
    rf"(?:{_WHO})(?:[ /-]?(?:names?|list|details|informati\w+|info|data|daten|liste|angaben"
    rf"|gegevens))?(?:\s?\(s\))?(?: \d| \(\d\))?"
    rf"|names? of (?:passenger|traveller)s?|nom(?:s)? (?:des passagers|du passager)"
    r"|nombre del pasajero|nome (?:do passageiro|del passeggero)|naam(?: passagier)?|搭乗者名|お名前|氏名)"
    r"\W*(?:\t|$|:|  )"
)
_AFTER_HEAD = re.compile(rf"^\W*(?:\d{{1,2}} ?[.):]?\s*)?({_NAME})\s*(?:様\W*)?(?:\(|,|\t|\||$|  | - )")
_LABEL_LINE = re.compile(
    r"^\W*(?:\w+ )?(?:passenger|travell?er|reisender?|passagiere?|fluggast|fluggaste|passagers?|voyageurs?|pasajeros?"
    r"|passageiros?|viajeros?|guests?|customers?|passegger[io]|viaggiator[ei]|reizigers?|name|nom|nombre|nome"
    r"|naam|搭乗者|こ搭乗者|お客様|氏名|お名前)(?:s|\(s\)|氏名|名)?"
    r"(?: ?(?:names?|details|\d|\(\d\)))?(?:\s{0,30}[:\t]\s{0,30}|\s{2,30})(?=[^\W\d_])"
)
_NAME_END = re.compile(r"\s{2,}|[\t|(]|,? ?e?-?ticket|\d|,? (?:adult|adt)\b", re.I)
_NOT_NAMES = frozenset(
    re.findall(
        r"\w+",
        "flight flights seat seats class booking reference ticket number name names adult adults baggage bag"
        " bags economy business first meal frequent flyer terms total price contact details information please"
        " your check in date time departure arrival from to status confirmed date birth document passport card"
        " tarif fare loyalty member gate zone type view manage online taxes total totale totaal purchase"
        " summary tarifa tariffa tarif value pagato details dettagli redeemed miles points avios surcharges"
        " nightly rate estimated address street billing services extras your bonus club award fri thu sat sun"
        " mon tue wed booked reserved departing return outbound inbound ida vuelta volta andata ritorno free"
        " payment travel hand cabin hold bagagem bagaglio equipaje gepack bagage assentos despachada car"
        " hire airport transfers transfer fast track going out priority infant child erwachsener adulto"
        " adulte volwassene adt chd inf extra special request requests none not selected",
    )
)
_PARTICLES = frozenset(
    re.findall(
        r"\w+",
        "de da do dos das del della di van von der den het la le y e zu bin al el ter ten",
    )
)
_SEVERAL = re.compile(r",|;| and | und | et | y | e | en |&|、")
_SEVERAL_TITLED = re.compile(_SEVERAL.pattern + r"| / ")
_CHILD_NAME = re.compile(
    rf"^\W*(?:{_CHILD}|baby|infant|bebe|neonato"
    rf"|{_WHO})(?: \d)?\s?[:\t]? +({_NAME})\s*(?:\(|,|\t|\||$|  )"
)
_STOP = re.compile(
    r"^\W*(?:total|price|preis|gesamt|prix|precio|prezzo|preco|prijs|payment|zahlung|paiement|pago|pagamento|fare"
    r"|tarif|合計|支払)"
)
_TITLES = re.compile(rf"^(?:{_TITLE}\.? +)+")
_BRACKETED = re.compile(r"\([^()]{0,20}\)")
_MOST = 9
_LONGEST = 160


def count_passengers(text: str, world: TravelFacts) -> int | None:
    """The number of travellers; None where the letter does not say, or says it in two ways."""
    text = to_plain(text)
    stated = _find_stated(fold(text))
    names = _find_names(text.split("\n"), world)
    if stated and names and stated < len(names):
        return None
    count = stated or len(names)
    return count if 0 < count <= _MOST else None


def _find_stated(folded: str) -> int | None:
    if match := _LABELLED.search(folded) or _IN_BRACKETS.search(folded):
        return _add_children(folded, match)
    counts = list(_COUNTED.finditer(folded))
    if counts:
        whole = max((int(m[1]) for m in counts if m[2]), default=0)
        adults = max((int(m[1]) for m in counts if not m[2]), default=0)
        children = max((_sum_children(line) for line in folded.split("\n")), default=0)
        # "2 passengers, 1 child" may be two or three people.
        return max(whole, adults + children) or None if adults or not children else None
    if match := _PERSONS.search(folded):
        return int(match[1] or match[2]) or None
    return None


def _add_children(folded: str, match: re.Match[str]) -> int | None:
    """A labelled count with the children beside it or below it; those in brackets are among it."""
    count = int(match[1])
    rest = folded[match.end(1) :].split("\n", 1)[0]
    if rest.lstrip().startswith(("(", ")")):
        return count or None
    below = _LABELLED_CHILD.search(folded) if re.search(_ADULT, match[0]) else None
    return count + (_sum_children(rest) or (int(below[1]) if below else 0)) or None


def _sum_children(line: str) -> int:
    return sum(int(m[1]) for m in _COUNTED_CHILD.finditer(line))


def _find_names(lines: list[str], world: TravelFacts) -> set[str]:
    """Names beside a label, under a heading, behind a title, or as SURNAME/GIVEN."""
    names: set[str] = set()
    for at, line in enumerate(lines):
        if len(line) > _LONGEST:
            continue
        small = fold(line)
        if match := _LABEL_LINE.match(small):
            names |= set(_read_label(line[match.end() :]))
        elif _HEAD.match(small):
            names |= _read_list(lines[at + 1 : at + 40])
        elif match := _TITLED.match(small):
            names |= {line[match.start(1) : match.end(1)]} if _is_name(line[match.start(1) : match.end(1)]) else set()
    if not names:
        names = {m[1] for line in lines if "/" in line and len(line) < _LONGEST for m in _SLASHED.finditer(line)}
        names = {n for n in names if _is_name(n.replace("/", " ")) and not list(world.places(n.title()))}
    return _join_same({_order(n) for n in names})


def _read_list(lines: list[str]) -> set[str]:
    """The names in the lines below a heading; lines of their tickets, seats and bags may stand between them."""
    names: set[str] = set()
    for line in lines:
        if not line.strip() or len(line) > _LONGEST:
            continue
        several = _split_names(line)
        name = _read_name(line)
        names |= set(several) or ({name} if name else set())
        if not name and not several and (_STOP.match(fold(line)) or not _is_detail(line)):
            break
    return names


def _split_names(line: str) -> list[str]:
    """The people of a line that names more than one; "SURNAME PARTS, GIVEN NAMES" is one person."""
    parts = [part.strip() for part in _SEVERAL_TITLED.split(line.strip(" *•·-")) if part.strip()]
    if len(parts) < 2:
        return []
    names = [_strip_title(part) for part in parts]
    titled = all(name != part for name, part in zip(names, parts, strict=True))
    sure = titled or len(parts) > 2 or "," not in line
    return names if sure and all(_is_name(name) for name in names) else []


def _is_detail(line: str) -> bool:
    """A line that tells no name: with digits, or of nothing but a letter's own words."""
    words = re.findall(r"[^\W\d_]+", fold(line))
    return any(map(str.isdigit, line)) or all(word in _NOT_NAMES for word in words)


def _read_label(rest: str) -> list[str]:
    """The names behind a label, to the number of the ticket or the next column."""
    written = _NAME_END.split(rest, maxsplit=1)[0]
    if _SLASHED.match(written.strip() + " "):
        return [written]
    if written.strip().endswith("様"):  # "ナガトモ ハルカ 様": letters without case
        return [part for part in _SEVERAL.split(written) if len(part.strip(" 様").split()) in (1, 2)]
    return [n for part in _SEVERAL.split(written) if _is_name(n := _strip_title(part))]


def _strip_title(name: str) -> str:
    """ "Frau Dr. Annegret Lindemann" without what is no part of the name."""
    name = name.strip()
    match = _TITLES.match(fold(name))
    return name[match.end() :] if match else name


def _read_name(line: str) -> str | None:
    if match := _SLASHED.search(line):
        return match[1]
    if match := _LABEL_LINE.match(fold(line)):
        return next(iter(_read_label(line[match.end() :])), None)
    line = _BRACKETED.sub(" ", line)
    small = fold(line)
    match = _TITLED.match(small) or _CHILD_NAME.match(small) or _AFTER_HEAD.match(small)
    name = line[match.start(1) : match.end(1)] if match else ""
    return name if _is_name(name) else None


def _is_name(text: str) -> bool:
    """Two to six words in capitals, or with a capital each but for particles, and none of a letter's own words."""
    words = [w for w in text.strip(" .,").split() if w not in "/様"]
    if not 2 <= len(words) <= 6 or any(map(str.isdigit, text)):
        return False
    smalls = [fold(w).strip(".,()*") for w in words]
    if any(w in _NOT_NAMES for w in smalls):
        return False
    return all(w[0].isupper() or small in _PARTICLES for w, small in zip(words, smalls, strict=True))


def _order(name: str) -> str:
    """A name as it is compared: words in order of the alphabet, without titles."""
    words = [w for w in re.split(r"[\s/]+", fold(name).strip(" .,*")) if not re.fullmatch(rf"{_TITLE}\.?", w)]
    return " ".join(sorted(words))


def _join_same(names: set[str]) -> set[str]:
    """Each person once: a shorter form of a name whose words all stand in a longer one is the same person."""
    parts = {name: frozenset(name.split()) for name in names if name}
    return {n for n, words in parts.items() if not any(words < other for other in parts.values())}
