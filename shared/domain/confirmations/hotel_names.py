"""The hotel of a stay: its name as the letter prints it, and the known hotel it means."""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shared.domain.confirmations.clean_text import to_one_line
from shared.domain.confirmations.confirmation_labels import CONFIRMATION
from shared.domain.confirmations.model import TravelFacts
from shared.domain.confirmations.stay_labels import ROOM_WORD, is_label, read_cells
from shared.domain.parsing.dates import DATE, NAMED_DATE
from shared.domain.parsing.text import fold

_NUMBERED = r"(?:\s(?:(?:n|no|nr|num)\.?[°º]? ?|#)?(?=[\w/-]*\d)[\w/-]{3,20})?"  # "reservation n. 4471 at"
_AT = re.compile(
    rf"\b(?:your (?:stay|reservation|booking|upcoming stay){_NUMBERED} (?:at|with)"
    rf"|(?:reservierung|buchung|aufenthalt){_NUMBERED} (?:im|in der|bei)"
    rf"|(?:sejour|reservation){_NUMBERED} (?:au|a l'|a la|chez|a)"
    rf"|(?:reserva|estancia|estadia){_NUMBERED} (?:en|no|na|em)"
    rf"|(?:prenotazione|soggiorno){_NUMBERED} (?:presso|al|a)|(?:reservering|boeking|verblijf){_NUMBERED} (?:bij|in)) ?"
)
_ARTICLE = re.compile(r"(?:(?:the|el|la|le|les|los|il|lo|het|den|dem|der|das|o) |l['\u2019])(?=\S)")  # in small letters
_ORNAMENT = " \t*_~>#|\u2022\u00b7\u25a0\u25cf\u25aa"  # around a heading, as programs write bold type in plain text
_HOTEL_WORDS = re.compile(
    r"\b(?:hotel|hotels|inn|resort|suites|hostal|hostel|pension|gasthof|gasthaus|lodge|palace|palais|palacio|palazzo"
    r"|villa|casa|riad|ryokan|albergo|locanda|agriturismo|posada|pousada|parador|quinta|auberge|chateau|maison|chalet"
    r"|apartments?|aparthotel|residence|guest ?house|b&b|bed and breakfast|herberg|marriott|hilton|hyatt|sheraton"
    r"|westin|novotel|ibis|mercure|sofitel|hampton|courtyard|conrad|andaz|ritz|fairmont|kimpton|radisson|melia|nh)\b"
    r"|ホテル|旅館|リソート"
)
_ADDRESS = re.compile(
    r"\d.*,|,.*\d|^\W*\+?[\d() .-]{7,}$|@|\b(?:street|road|avenue|square|lane|strasse|platz|rue|calle|avenida|rua"
    r"|plaza"
    r"|boulevard|blvd|tel|phone|telefon|fax)\b"
)
_PROSE = re.compile(
    r"[.!?。:：]\s*$|\S+(?: \S+){11}|\b(?:confirm\w*|conferm\w*|bestatig\w*|bevestig\w*|gentile|egregi\w*|estimad[oa]"
    r"|geachte)\b|\b(?:thank|dear|hello|hi|hallo|bonjour|hola|ola|buongiorno|beste|danke|merci|gracias|obrigad[oa]"
    r"|grazie"
    r"|we|your|you|please|view|click|http|ihre?|sie|wir|votre|vous|nous|su|tu|sua|seu|vostra|uw|jouw|www|guest"
    r"|gast|sehr"
    r"|confirmation|confirmed|bestatigt|confirmee?|confirmad[oa]|confermata|bevestigd|reservation|reservierung"
    r"|booking"
    r"|buchung|itinerary|summary|details|manage|special offers?|rate|forwarded)\b|様"
)
# Chains, programmes and agencies, whose names stand at the head of letters of any of their hotels.
_BRAND = re.compile(
    r"\W*(?:marriott(?: bonvoy| international)?|hilton(?: honors| hotels.*)?|(?:world of )?hyatt|hyatt hotels.*"
    r"|ihg(?: .*)?|accor(?: .*)?|all(?:\.com| - accor.*)?|booking\.com|expedia(?: .*)?|hotels\.com|agoda(?: .*)?|airbnb"
    r"|priceline|kayak|ebookers|opodo|edreams|orbitz|travelocity|hotwire|vrbo|hrs|lastminute.*|rakuten.*|jalan.*"
    r"|despegar"
    r"|radisson (?:rewards|hotels)|wyndham(?: rewards| hotels.*)?|choice (?:privileges|hotels)|voyage prive"
    r"|secret escapes"
    r"|best western(?: rewards| hotels.*)?|melia ?rewards|nh discovery|check24|holidaycheck|tui|egencia|navan"
    r"|h\.?i\.?s\.?"
    r"|(?:the )?leading hotels.*|small luxury hotels.*|preferred hotels.*|i prefer.*|design hotels|relais.*chateaux"
    r"|scandic|motel one|premier inn|travelodge|citizenm|ibis.{0,8}|novotel|mercure|riu|barcelo|iberostar|leonardo"
    r"|toyoko ?inn|東横inn|アハホテル|starhotels|pestana|vila gale|fletcher|van der valk|bastion|campanile|kyriad"
    r"|(?:holiday|days|comfort|quality|residence|fairfield|red roof|la quinta|sleep|hampton) inn(?: express)?"
    r"|comfort suites|hampton(?: by hilton)?|citadines|steigenberger|maritim"
    r"|一休.*|楽天トラヘル|しゃらん.*|jtb"
    r"|(?:chase|amex|american express|capital one) .*travel.*|hotel (?:reservations?|details|information|booking)"
    r"|.*(?:travel|reisen?|reiseburo.*|viajes|voyages|viaggi|viagens|reizen|tours|holidays|トラヘル|旅行|旅行社)"
    r"|.*\b(?:hotels|hoteles|hoteis|resorts|hotel group|group|gruppo|grupo|collection|rewards|turismo)"
    r"|(?:paradores|pousadas|hoteles|hotels)\b.*|logis(?: hotels)?|.*\.(?:com|net|eu|it|de|fr|es|nl|jp|co\.uk)"
    r"|(?:your )?(?:stay|room|hotel|trip)(?: (?:details|information|summary))?)\W*"
)
# Desks that write letters, and what their letters are: in the name of a sender no part of the hotel's.
_DESK = re.compile(
    r"\W*(?:(?:the|your|das|ihr|le|el|il|team|reservations?|bookings?|confirmations?|no-?reply|do-?not-?reply|info"
    r"|services?|customers?|guests?|relations|front|office|desk|department|hotels?|reception|concierge|manager"
    r"|reservierung(?:en|s\w*)?|rezeption|reservas|recepcion|prenotazioni|reserveringen|equipe|equipo|予約|センター)"
    r"(?:\W+|$))+"
)
_SIGN_OFF = re.compile(
    r"\W*(?:(?:warm|warmest|kind|kindest|best|with kind|with warm) (?:regards|wishes)|(?:yours )?sincerely"
    r"|yours truly"
    r"|regards|cheers|mit (?:freundlichen|herzlichen|besten) grussen|(?:viele|beste|herzliche|freundliche) grusse"
    r"|cordialement|bien a vous|bien cordialement|(?:un )?(?:cordial )?saludos?|atentamente"
    r"|(?:cordiali|distinti) saluti|atenciosamente|com os melhores cumprimentos"
    r"|met (?:vriendelijke|hartelijke) groet(?:en)?|敬具)\b.{0,12}"
)
# What stands behind such a label and is no name: stars, counts and prices.
_NO_NAME = re.compile(
    r"^\W*(?:[\d\W]+|\d.*(?:stars?|sterne|etoiles|estrellas|stelle|sterren)|(?:[a-z]{3} )?[\d.,]+(?: [a-z]{3})?)\W*$"
    r"|\b(?:\d{1,2}[./]\d{1,2}[./]\d{2,4}|20\d\d)\b"
)
_CELL_LABEL = re.compile(r"^[^:：\t]{2,40}[:：\t]")
_PIECES = re.compile(r"\s[-|:]\s|: |\b(?:for|at|in|im|bei|a|en|au|presso|em)\b(?: the)? |#\s?\w+ |[()（）]")
_PHRASE_END = re.compile(
    r"(?<!\bst)[.]\s|[!?,;:]\s|[.!?,;:]?$|\t| (?:is|has|was|will|as follows|from|ist|wurde|hat|wie folgt|vom|est"
    r"|a ete"
    r"|comme suit|du(?= \d)|esta|ha|foi|como sigue|e stat[ao]|come segue|wordt|als volgt)(?: |[.:]?$)"
)
_ORDER = re.compile(r"^\W*(?:\d{1,2}[.)]\s+)?")
_CODE = re.compile(r"(?=[A-Z-]*\d)[A-Z\d-]{5,25}")  # a booking's number
_MAX_NAMES = 40


@dataclass(frozen=True)
class HotelName:
    """`id` is None for a hotel unknown here; both are None, with the candidates, where no name is certain."""

    id: str | None
    name: str | None
    candidates: tuple[str, ...] = ()


def find_hotel(above: Sequence[str], below: Sequence[str], subject: str, sender: str, world: TravelFacts) -> HotelName:
    """The hotel of the stay whose days stand between these lines."""
    labelled = _read_label([*above, *below], f"{subject} {sender}")
    if labelled:
        return HotelName(world.hotel(labelled), labelled)
    titles, below = list(dict.fromkeys(_list_titles(above))), _cut_signature(below)
    phrases = [*_list_phrases([subject, *above, *below]), *_split_subject(subject)]
    outside = [name for name in dict.fromkeys([*phrases, sender]) if not _is_of_desk(name)]
    for name in [*titles, *outside][:_MAX_NAMES]:
        if hotel := world.hotel(name):
            longer = [n for n in outside if fold(n).startswith(f"{fold(name)},") and world.hotel(n) == hotel]
            return HotelName(hotel, (longer or [name])[0])
    elsewhere = [fold(name) for name in outside if len(name) > 3]
    for title in (*titles, *_list_titles(below)):
        if any(fold(title) in other or other in fold(title) for other in elsewhere):
            return HotelName(None, title)
    unknown = _find_unknown(above, titles, [name for name in outside if name != sender])
    if unknown.name is None and _is_house(sender, "\n".join([subject, *above, *below])):
        return HotelName(None, sender)
    return unknown


def _cut_signature(lines: Sequence[str]) -> Sequence[str]:
    """Without the end of a letter, where people and desks sign it."""
    return lines[: next((at for at, line in enumerate(lines) if _SIGN_OFF.fullmatch(fold(line))), len(lines))]


def _is_of_desk(name: str) -> bool:
    """Whether a name is that of a chain, or of a desk, and of no hotel."""
    small = fold(name)
    return bool(_BRAND.fullmatch(small) or _DESK.fullmatch(small))


_LABEL_TWICE = re.compile(r"^hotel\W+(?=hotel\b)", re.I)


def _clean_name(text: str) -> str:
    """One line without ornaments; a label "Hotel" that ran into a name that begins so is no part of it."""
    return _LABEL_TWICE.sub("", to_one_line(text, 120).strip(_ORNAMENT))


def _find_unknown(above: Sequence[str], titles: list[str], phrases: list[str]) -> HotelName:
    """A name that stands in one place is certain where it alone has a word of hotels, or an address below it."""
    named = [t for t in titles if _HOTEL_WORDS.search(fold(t))]
    named = named or [t for t in phrases if _HOTEL_WORDS.search(fold(t)) and not _PROSE.search(fold(t))]
    if not named:
        pairs = itertools.pairwise(above)
        named = [t for line, under in pairs if _ADDRESS.search(fold(under)) for t in _list_titles([line])]
    return HotelName(None, named[0]) if len(named) == 1 else HotelName(None, None, tuple(named or titles)[:4])


def _read_label(lines: Sequence[str], around: str) -> str | None:
    """The name behind the label "Hotel" or another; a label that ran into it where the letter's subject shows so."""
    for cell in read_cells(lines, "hotel"):
        name = _cut_address(_clean_name(cell))
        is_other = _NO_NAME.search(fold(cell)) or ROOM_WORD.match(fold(name))
        if len(name) > 2 and re.search(r"[^\W\d_]{2}", name) and not is_other:
            return name
    outside = fold(around)
    for line in lines:
        name = _clean_name(line)
        small = fold(name)
        if small.startswith("hotel ") and small not in outside and len(small) > 12 and small[6:] in outside:
            return name[6:]
    return None


def _cut_address(name: str) -> str:
    """A name without the street and the town behind it, of which one part holds the number of the house."""
    parts = re.split(r"(, | - )", name)
    numbered = next((at for at, part in enumerate(parts) if at and re.search(r"\d", part)), None)
    if numbered is None:
        return name
    end = numbered - 2 if re.fullmatch(r"\W*\d+\W*", parts[numbered]) and numbered > 2 else numbered
    return "".join(parts[:end]).strip(" ,-")


def _is_house(sender: str, text: str) -> bool:
    """Whether a sender of two words or more, none of a chain or an agency, is named in the letter too."""
    small = fold(sender)
    return len(small) > 5 and bool(re.search(r"\S\s\S", small)) and not _is_of_desk(sender) and small in fold(text)


def _list_titles(lines: Sequence[str]) -> Iterator[str]:
    """Lines that can be a hotel's name, from the nearest upwards: no labels, sentences or addresses."""
    for line in reversed(lines):
        name = _clean_name(_ORDER.sub("", line.replace("\t", " ")))
        small = fold(name)
        known_form = _CELL_LABEL.match(line.strip()) or CONFIRMATION.match(small) or _ADDRESS.search(small)
        if (
            4 <= len(name) <= 90
            and not known_form
            and not _is_of_desk(small)
            and not is_label(name)
            and not NAMED_DATE.search(small)
            and not DATE.search(small)
            and not _PROSE.search(small)
            and not _CODE.fullmatch(name)
            and re.search(r"[^\W\d_]{3}", name)
        ):
            yield name


def _list_phrases(lines: Sequence[str]) -> Iterator[str]:
    """ "Your stay at X": the words behind, up to the end of the sentence."""
    for line in lines:
        if match := _AT.search(fold(line)):
            rest = line[match.end() :]
            end = _PHRASE_END.search(fold(rest))
            name = rest[: end.start() if end else None].lstrip()
            name = _clean_name(name[article.end() :] if (article := _ARTICLE.match(name)) else name)
            if 4 <= len(name) <= 90:
                yield name


def _split_subject(subject: str) -> list[str]:
    pieces = [to_one_line(p, 120) for p in _PIECES.split(subject)]
    return [p for p in reversed(pieces) if len(p) > 3 and not _CODE.fullmatch(p)]
