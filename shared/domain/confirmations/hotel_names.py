"""The hotel of a stay: its name as the letter prints it, and the known hotel it means."""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shared.domain.confirmations.clean_text import to_one_line
from shared.domain.confirmations.model import TravelFacts
from shared.domain.confirmations.phrases import CONFIRMATION
from shared.domain.parsing.text import fold

_LABEL = re.compile(
    r"^\W*(?:hotel(?: name)?|property(?: name)?|name of (?:the )?hotel|unterkunft|etablissement|hebergement"
    r"|alojamiento|alojamento|struttura|accommodation|accommodatie|hotelname|nom de l'hotel|nombre del hotel"
    r"|nome (?:do|dell')\s?hotel|ホテル名?|宿泊施設名?|施設名)\s?[:：\t]\s*(\S.*)$"
)
_AT = re.compile(
    r"\b(?:your (?:stay|reservation|booking|upcoming stay) (?:at|with)"
    r"|(?:reservierung|buchung|aufenthalt) (?:im|in der|bei)"
    r"|(?:sejour|reservation) (?:au|a l'|a la|chez|a)|(?:reserva|estancia|estadia) (?:en|no|na|em)"
    r"|(?:prenotazione|soggiorno) (?:presso|al|a)|(?:reservering|boeking|verblijf) (?:bij|in)) ?"
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
    r"[.!?。]\s*$|\b(?:thank|dear|hello|hi|hallo|bonjour|hola|ola|buongiorno|beste|danke|merci|gracias|obrigad[oa]"
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
    r"|trip\.com|priceline|kayak|ebookers|opodo|orbitz|travelocity|hotwire|vrbo|hrs|lastminute.*|rakuten.*|jalan.*"
    r"|radisson (?:rewards|hotels)|wyndham(?: rewards| hotels.*)?|choice (?:privileges|hotels)"
    r"|best western(?: rewards| hotels.*)?|melia ?rewards|melia hotels.*|nh hotel group|nh hotels|nh discovery"
    r"|(?:the )?leading hotels.*|small luxury hotels.*|preferred hotels.*|i prefer.*|design hotels|relais.*chateaux"
    r"|(?:chase|amex|american express|capital one) .*travel.*|hotel (?:reservations?|details|information|booking)"
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
    r"\W*(?:(?:warm|warmest|kind|kindest|best|with kind|with warm) (?:regards|wishes)|(?:yours )?sincerely|yours truly"
    r"|regards|cheers|mit (?:freundlichen|herzlichen|besten) grussen|(?:viele|beste|herzliche|freundliche) grusse"
    r"|cordialement|bien a vous|bien cordialement|(?:un )?(?:cordial )?saludos?|atentamente"
    r"|(?:cordiali|distinti) saluti|atenciosamente|com os melhores cumprimentos"
    r"|met (?:vriendelijke|hartelijke) groet(?:en)?|敬具)\b.{0,12}"
)
_CELL_LABEL = re.compile(r"^[^:：\t]{2,40}[:：\t]")
_PIECES = re.compile(r"\s[-|:]\s|: |\b(?:for|at|in|im|bei|a|en|au|presso|em)\b(?: the)? |#\s?\w+ |[()（）]")
_PHRASE_END = re.compile(
    r"(?<!\bst)[.]\s|[!?,;:]\s|[.!?,;:]?$|\t| (?:is|has|was|will|as follows|from|ist|wurde|hat|wie folgt|vom|est|a ete"
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
    labelled = next((name for line in (*above, *below) if (name := _read_label(line))), None)
    if labelled:
        return HotelName(world.hotel(labelled), labelled)
    titles, below = list(dict.fromkeys(_list_titles(above))), _cut_signature(below)
    phrases = [*_list_phrases([subject, *above, *below]), *_split_subject(subject)]
    outside = [name for name in dict.fromkeys([*phrases, sender]) if not _is_of_desk(name)]
    for name in [*titles, *outside][:_MAX_NAMES]:
        if hotel := world.hotel(name):
            return HotelName(hotel, name)
    elsewhere = [fold(name) for name in outside if len(name) > 3]
    for title in (*titles, *_list_titles(below)):
        if any(fold(title) in other or other in fold(title) for other in elsewhere):
            return HotelName(None, title)
    return _find_unknown(above, titles, [name for name in outside if name != sender])


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


def _read_label(line: str) -> str | None:
    match = _LABEL.match(fold(line))
    name = _clean_name(line[match.start(1) :].split("\t")[0]) if match else ""
    return name if len(name) > 2 else None


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
