"""Hotel stays in the words of a confirmation: hotel, days, room type and the end of free cancellation."""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from shared.domain.confirmations import prices
from shared.domain.confirmations.clean_text import join_wrapped, to_one_line
from shared.domain.confirmations.confirmation_labels import CONFIRMATION
from shared.domain.confirmations.confirmation_numbers import find_confirmation
from shared.domain.confirmations.forwarding import Text
from shared.domain.confirmations.mail_dates import MailDates
from shared.domain.confirmations.model import BookedStay, Doubt, TravelFacts
from shared.domain.confirmations.other_letters import is_of_parking_or_ship
from shared.domain.confirmations.stay_days import StaySpan, find_other_spans, find_spans
from shared.domain.confirmations.stay_labels import ROOM, ROOM_WORD, is_label, read_cells
from shared.domain.confirmations.stay_nights import list_nights
from shared.domain.parsing.dates import DATE, NAMED_DATE
from shared.domain.parsing.text import fold

# The type of the room of a stay, where a label names it.

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
_NUMBERED_ROOM = re.compile(
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
    short = [line for line in lines if not _NUMBERED_ROOM.match(fold(line))]
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


# The hotel of a stay: its name as the letter prints it, and the known hotel it means.

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
    """Cuts the end of a letter, where people and desks sign it."""
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
    hotel_titles = [t for t in titles if _HOTEL_WORDS.search(fold(t))]
    hotel_titles = hotel_titles or [t for t in phrases if _HOTEL_WORDS.search(fold(t)) and not _PROSE.search(fold(t))]
    if not hotel_titles:
        pairs = itertools.pairwise(above)
        hotel_titles = [t for line, under in pairs if _ADDRESS.search(fold(under)) for t in _list_titles([line])]
    return (
        HotelName(None, hotel_titles[0])
        if len(hotel_titles) == 1
        else HotelName(None, None, tuple(hotel_titles or titles)[:4])
    )


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


# The last day on which a stay can be cancelled without a charge.

_CANCEL = re.compile(
    r"cancel|storn|annul|refund|erstatt|rembours|reembols|rimbors|plans change|change your mind|キャンセル|取消|取り消"
)
_FREE = re.compile(
    r"\bfree\b|\bno (?:charge|fee|penalt|cost)|without (?:any )?(?:charge|penalt|fee|cost)|at no (?:extra "
    r"|additional )?c"
    r"|kosten(?:los|frei)|gebuhrenfrei|ohne (?:gebuhr|kosten)|gratuit|gratis|sans (?:frais|penalite|charge)|kosteloos"
    r"|sin (?:gastos|cargos?|costes?|costo|penaliz|penalid)|senza (?:penal|cost|addebit|spes)|sem (?:custo|encargo"
    r"|taxa|penal)"
    r"|zonder kosten|fully refundable|full refund|vollstandig|integralement|avoid|vermeiden"
    r"|eviter|evitar|evitare|voorkomen|nothing to pay|無料|かかりません|発生しません|不要"
)
_UNTIL = (
    r"(?:\b(?:until|till|before|by|prior to|up to|through|no later than|bis(?: zum)?|vor dem|spatestens"
    r"|jusqu.a(?:ux?)?|avant(?: le)?"
    r"|au plus tard(?: le)?"
    r"|hasta(?: el)?|antes del?|fino al?(?:le)?|entro(?: il)?|prima del?|ate(?: ao?)?"
    r"|tot(?: en met)?|voor"
    r"|uiterlijk(?: op)?|deadline|frist)\b)"
)
_UNTIL_DAY = re.compile(_UNTIL)
_DEADLINE = re.compile(
    r"cancell?ation deadline|stornofrist|stornierungsfrist|free cancell?ation|annulation (?:gratuite|sans frais)"
    r"|cancelacion gratuita"
    r"|cancelamento (?:gratuito|gratis)|cancellazione gratuita|(?:kosteloos|gratis) annuleren|kostenlose stornierung"
    r"|date limite d'annulation|fecha limite de cancelacion|キャンセル(?:無料)?期限"
)
# "Cancelling after 6 pm on 16 August will result in a charge"
_LATER = re.compile(
    r"(?:cancel|storn|annul|anul)[^.]{0,60}?\b(?:after|later than|nach(?: dem)?|apres(?: le)?|despues del?|dopo(?: il)?"
    r"|apos|depois de|na)\b(?P<day>.{5,110}?)\b(?:forfeit|charge|fee|penalt|gebuhr|kosten|frais|cargo|gastos|penal"
    r"|multa|result|fallen|berechnet|factur|factures|cobr|addebit|comport|rekening|belast|kost|subject)"
)
_BEFORE_VERB = re.compile(r"まて|以前")  # Japanese puts the day before the word
_OTHER_TERMS = re.compile(r"\b(?!100)\d{1,3} ?%|modif|umbuch")
_SENTENCE = re.compile(r"(?<=[a-z)]{2}[.!?;])\s+(?=\S)|(?<=\d{4}[.!?;])\s+|(?<=。)")
_ARRIVAL = (
    r"(?:your |ihrer |der |the |l'|votre |d'|la |su |tu |vuestra |sua |do |da |a |del |dell')?"
    r"(?:arrival|check-?in|stay|anreise|ankunft|arrivee|llegada|entrada|arrivo|chegada|aankomst)"
)
_ON_DAY = re.compile(
    r"anreisetag|tag der (?:anreise|ankunft)|day of (?:your )?(?:arrival|check-?in)|(?:arrival|check-?in) day"
    r"|jour (?:de (?:votre |l'))?"
    r"(?:d')?arrivee|dia de (?:la |su )?llegada|giorno (?:di|dell'|d')\s?arrivo|dia d[ea] chegada|dag van aankomst"
    r"|aankomstdag|当日"
)
_DAY_BEFORE = re.compile(
    r"(?:the|one|1) day (?:before|prior)|day prior|am vortag|am tag vor|la veille|el dia (?:anterior|antes)"
    r"|il giorno (?:prima|precedente)"
    r"|dia anterior|dag voor|前日"
)
_DAYS_BEFORE = re.compile(
    rf"(\d{{1,2}}) ?(?:days?|tage?n?|jours?|dias?|giorn[oi]|dagen) (?:before|prior to|in advance of|vor|avant"
    rf"|antes d[eao]l?|prima d[ie]l*'?"
    rf"|voor) ?{_ARRIVAL}|(\d{{1,2}})日前まて"
)
_HOURS_BEFORE = re.compile(
    rf"(24|48|72) ?-?(?:hours?|hrs|stunden|heures|horas|ore|uur|h) (?:before|prior to|vor|avant|antes d[eao]l?"
    rf"|prima d[ie]l*'?|voor) ?{_ARRIVAL}"
)


def find_free_until(lines: Sequence[str], dates: MailDates, arrives: date | None, leaves: date | None) -> date | None:
    """The last such day, as a date or counted back from the arrival."""
    for small in _list_sentences(lines):
        day = _read_day(small, dates)
        if day is None and arrives:
            day = _count_back(small, arrives)
        if day and (leaves is None or day <= leaves):
            return day
    return None


def _list_sentences(lines: Sequence[str]) -> Iterator[str]:
    """Each sentence that speaks of cancelling; below a heading that does, the lines that say until when."""
    heading = ""
    for line in join_wrapped(lines):
        small = fold(line)
        for sentence in _SENTENCE.split(small):
            if _CANCEL.search(sentence) or _CANCEL.search(heading):
                yield sentence if _CANCEL.search(sentence) else f"{heading} {sentence}"
        heading = small[:60] if len(line) < 60 and _CANCEL.search(small) and not re.search(r"\d", small) else ""


def _read_day(small: str, dates: MailDates) -> date | None:
    if _OTHER_TERMS.search(small):
        return None
    if _BEFORE_VERB.search(small) and _FREE.search(small):
        day = dates.first(small)
        return day.day if day else None
    if match := _DEADLINE.search(small):
        day = dates.first(small[match.end() :])
        return day.day if day else None
    if (match := _LATER.search(small)) and (day := dates.first(match["day"])):
        return day.day
    cancel = re.search(r"cancel|storn|annul", small)
    for match in _UNTIL_DAY.finditer(small):
        is_of_cancelling = cancel is not None and cancel.start() < match.start() <= cancel.end() + 100
        day = dates.first(small[match.end() : match.end() + 80])
        if day and day.day and (is_of_cancelling or _FREE.search(small)):
            return day.day
    return None


def _count_back(small: str, arrives: date) -> date | None:
    if not _FREE.search(small) or _OTHER_TERMS.search(small):
        return None
    if match := _HOURS_BEFORE.search(small):
        return arrives - timedelta(days=int(match[1]) // 24)
    if match := _DAYS_BEFORE.search(small):
        return arrives - timedelta(days=int(match[1] or match[2]))
    if _DAY_BEFORE.search(small):
        return arrives - timedelta(days=1)
    return arrives if _ON_DAY.search(small) else None


_LABEL = re.compile(r"^[^:：\t]{2,40}[:：\t]")
# Lines that end the block of a stay: when and for how much it can be cancelled, and what it cost.
_TERMS = re.compile(r"cancel|storn|annul|refund|erstatt|rembours|reembols|rimbors|キャンセル|取消|\d[.,]\d{2}(?!\d)")
_OF_FLIGHTS = re.compile(
    r"\b(?:air|airlines?|airways|flights?|flug\w*|fluge|vols?|vuelos?|vol[oi]|voos?|vluch\w*|depart(?:s|ed)?|abflug"
    r"|boarding"
    r"|trip|package|gesamtreise|reisepreis|pauschal\w*|voyage|viajes?|viaggio|viagem|reissom)\b|便名|航空"
)
_FLIGHT_NUMBER = re.compile(r"\b(?:[A-Z]{2}|[A-Z]\d|\d[A-Z]) ?\d{2,4}\b")
_MAX_STAYS = 12


def read_stays(text: str, subject: str, dates: MailDates, world: TravelFacts, sender: str = "") -> list[BookedStay]:
    """The stays of a text: those of which it names the day of arrival and the one of leaving."""
    lines = [line for line in text.split("\n") if line.strip()]
    if is_of_parking_or_ship(fold(text)):
        return []
    spans = find_spans(lines, dates)[:_MAX_STAYS] or find_other_spans(lines, dates)
    return _read_spans(lines, spans, (subject, sender), dates, world)


def read_stays_beside_flights(text: str, dates: MailDates, world: TravelFacts) -> list[BookedStay]:
    """The stays of a letter that also states flights, whose arrivals and departures are none of a hotel."""
    lines = [line for line in text.split("\n") if line.strip()]
    spans = find_spans(lines, dates, hotels_only=True)[:_MAX_STAYS]
    stays = _read_spans(lines, spans, ("", ""), dates, world)
    paragraphs = [[line for line in p.split("\n") if line.strip()] for p in re.split(r"\n[ \t]*\n", text)]
    starts = [0, *itertools.accumulate(map(len, paragraphs))]
    for stay, span in zip(stays, spans, strict=True):
        block = lines[max(n for n in starts if n <= span.first) : min(n for n in starts if n > span.last)]
        if len(spans) == 1:
            # The lines up to the first that speaks of a flight or of the whole journey.
            own = list(itertools.takewhile(lambda line: not _OF_FLIGHTS.search(fold(line)), lines[span.first :]))
            stay.free_cancellation_until = find_free_until(own, dates, span.arrives, span.leaves)
        if not any(_OF_FLIGHTS.search(fold(line)) or _FLIGHT_NUMBER.search(line) for line in block):
            _set_own_number(stay, block, world)
    return [stay for stay in stays if stay.hotel_name]


def _set_own_number(stay: BookedStay, block: list[str], world: TravelFacts) -> None:
    """The number and the price that stand in one paragraph with the days of the stay."""
    own = "\n".join(block)
    if number := find_confirmation(Text(own, "", "", False, None)):  # without one the price may be that of the journey
        stay.confirmation_number = number
        _set_own_price(stay, own, world)


def _read_spans(
    lines: list[str], spans: list[StaySpan], around: tuple[str, str], dates: MailDates, world: TravelFacts
) -> list[BookedStay]:
    if len(spans) < 2:
        return [_read_stay(lines, (0, len(lines)), span, around, dates, world) for span in spans]
    out = []
    for at, span in enumerate(spans):
        start = _find_start(lines, spans[at - 1].last + 1 if at else 0, span.first)
        end = _find_start(lines, span.last + 1, spans[at + 1].first) if at + 1 < len(spans) else len(lines)
        stay = _read_stay(lines[:end], (start, end), span, ("", ""), dates, world)
        block = "\n".join(lines[start:end])
        stay.confirmation_number = find_confirmation(Text(block, "", around[1], False, None))
        _set_own_price(stay, block, world)
        out.append(stay)
    if not all(stay.original_points or stay.cash_total for stay in out):  # the one price may be that of all
        for stay in out:
            stay.original_points = stay.cash_total = stay.cash_rate_currency = None
    return out


def _find_start(lines: list[str], start: int, end: int) -> int:
    """The line where the block of a stay begins: the last title above its days, else right at the start."""
    numbered = [at for at in range(start, end) if re.match(r"\W*\d{1,2}[.)]\s+\D", lines[at])]
    others = [at for at in range(start, end) if not _LABEL.match(lines[at]) and not _TERMS.search(fold(lines[at]))]
    titles = [at for at in others if not re.search(r"[.!?]\s*$", lines[at])]
    return (numbered or titles[-2:] or [start])[0]


def _read_stay(
    lines: list[str],
    block: tuple[int, int],
    span: StaySpan,
    around: tuple[str, str],
    dates: MailDates,
    world: TravelFacts,
) -> BookedStay:
    start, end = block
    own = lines[start:end]
    hotel = find_hotel(lines[start : span.first], lines[span.first : end], *around, world)
    stay = BookedStay(
        hotel_id=hotel.id,
        hotel_name=hotel.name,
        free_cancellation_until=find_free_until(own, dates, span.arrives, span.leaves),
        room_type=find_room(own),
    )
    if hotel.candidates:
        stay.doubts.append(Doubt("hotel_name", "Several lines may be the hotel's name.", hotel.candidates))
    if span.arrives and span.leaves and span.arrives < span.leaves:
        stay.check_in_date, stay.check_out_date = span.arrives, span.leaves
        # The number of nights the letter names has to be that of its days.
        nights = (span.leaves - span.arrives).days
        stated_nights = list_nights(own)
        if stated_nights and nights not in stated_nights:
            reason = "The number of nights the letter names is not that of its days."
            days = f"{stay.check_in_date} to {stay.check_out_date}"
            stay.doubts.append(Doubt("check_out_date", reason, (*(f"{n} nights" for n in sorted(stated_nights)), days)))
            stay.check_out_date = None
    return stay


def _set_own_price(stay: BookedStay, block: str, world: TravelFacts) -> None:
    """The price of one of several stays, where its own lines name one."""
    price = prices.find_price(block, world)
    if price.points is not None and not (price.doubts or price.repeated or price.both):
        stay.original_points = price.points
    elif price.cash is not None and price.currency and not price.doubts:
        stay.cash_total, stay.cash_rate_currency = price.cash, price.currency
