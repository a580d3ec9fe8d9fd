"""Letters whose words would be misread as bookings: tickets of railways, and cancellations of a part of a booking."""

import re

from shared.domain.confirmations.forwarding import Text
from shared.domain.confirmations.letter_actions import says_cancelled
from shared.domain.confirmations.letter_languages import join_words
from shared.domain.parsing.text import fold

# Numbers of trains ("ICE 702"), discount cards ("BC 50") and platforms look like flights.
_RAILWAY = re.compile(
    r"\b(?:bahncard|bc ?(?:25|50|100)|deutsche bahn|bahn\.de|(?:ice|ic|ec|tgv|rjx?|frecciarossa|frecciargento"
    r"|intercity"
    r"|eurocity|re|avlo)[ -]\d{1,5}|gleis|gl\. ?\d|wagen|wg\. ?\d|hbf|hauptbahnhof|fahrkarten?|fahrschein|zugbindung"
    r"|sparpreis|voiture|sncf|gare (?:de|du)|eurostar|thalys|trenitalia|italo|carrozza|binario|renfe|cercanias|coche"
    r"|tren|treno|ave \d{4,5}"
    r"|plaza \d{1,3}[a-d]"
    r"|amtrak|acela|train \d{2,5}|railway|rail (?:ticket|pass)|train (?:ticket|number|no)|platform"
    r"|coach [a-z]?\d|ns international|spoor"
    r"|jizdenka|vlak|nastupiste|cd\.cz|regiojet|obb|sbb|新幹線|号車)"
)
_AIR = re.compile(
    r"\b(?:flights?|flug(?:nummer|nr|hafen|zeit\w*|gast\w*)?|fluge|vols?|vuelos?|vol[oi]|voos?|vluch(?:t|ten)"
    r"|vluchtnummer|airports?"
    r"|aeroport\w*|airlines?|airways|boarding|luchthaven|e-?tickets?|aircraft)\b|便名|航空"
)
_PARKING_OR_SHIP = re.compile(
    r"\b(?:car park|parking (?:booking|space|lot|reservation)|parkplatz|parkhaus|stellplatz|parcheggio|aparcamiento"
    r"|estacionamento|parkeer\w*|ferry|ferries|crossing|sailing|fahre|fahrverbindung|uberfahrt|traversee|traghetto"
    r"|balsa|veerboot|overtocht|berth|sailings?|port of (?:departure|arrival)|(?:passengers?"
    r"|cabin\b[^\n]{0,30}), \d (?:car|vehicle|motorbike|van)s?|table for|tischreservierung)\b|駐車場|フェリー"
)
_LODGING = re.compile(
    r"\b(?:nights?|nachte?n?|ubernachtung(?:en)?|nuits?|noches?|noites?|nott[ei]|overnachting(?:en)?|check[ -]?out"
    r"|rooms?|zimmer|quartos?|habitacion(?:es)?|camer[ae]|chambres?|kamers?)\b|泊|客室"
)
_PARTLY = re.compile(
    r"not affected|is unaffected|remains? (?:unchanged|confirmed|valid|as booked)|\(unchanged\)|bleibt (?:unverandert"
    r"|bestehen|gultig)|nicht betroffen|reste (?:inchangee?|confirmee?)|n'est pas (?:concerne|affecte)"
    r"|no (?:se ve|esta) afectad|sigue confirmad|non (?:e|subisce) (?:interessat|modific)|resta (?:confermat"
    r"|invariat)"
    r"|blijft (?:ongewijzigd|geldig|staan)|nao (?:foi|e) afetad|(?:continua|permanece|sigue) (?:valid|confirmad"
    r"|vigente)"
    r"|(?:the )?(?:other|remaining) (?:flights?|passengers?|travell?ers?|guests?|rooms?|nights?)|ubrige\w* (?:fluge"
    r"|reisende"
    r"|zimmer)|andere\w* (?:fluge|reisende|zimmer|vluchten|passagiers|reizigers|kamers)|autres? (?:vols?|passagers?"
    r"|chambres?)|(?:otros?|demas|resto de) (?:los )?(?:vuelos?|pasajeros?|habitacion\w*)|altri (?:voli|passeggeri)"
    r"|(?:outros|demais) (?:voos|passageiros|quartos)|\bone of (?:the|your) (?:flights|rooms|nights)"
    r"|eine[rs] ihrer (?:fluge"
    r"|zimmer)|(?:un|une|l'un) de vos (?:vols|chambres)|un[oa] de (?:tus|sus) (?:vuelos|habitaciones)"
    r"|uno dei (?:tuoi|suoi) voli|um dos seus voos|een van (?:uw|je) (?:vluchten|kamers)|a part of your"
    r"|\bpart of your"
    r"|teil ihrer (?:reise|buchung)|partie de votre|parte de (?:tu|su)|parte della|parte da sua|deel van uw"
    r"|\bpartial(?:ly)? cancel|teilweise (?:storniert|annulliert)|teilstorn|annulation partielle|partiellement annul"
    r"|cancelacion parcial|parcialmente cancel|parziale|parzialmente|cancelamento parcial|gedeeltelijk\w* (?:geannul"
    r"|annul)|status\s?[:\t]\s?confirmed|一部(?:取り?消|キャンセル)"
)
# An airline that cancels a flight and books another in its place changes the booking.
_REBOOKED = re.compile(
    r"re-?booked (?:you|on|to|onto)|(?:you|been) (?:automatically )?(?:re-?booked|rebooked|re-?accommodated)"
    r"|moved you (?:to"
    r"|on)|your (?:new|replacement|alternative) flight|^\W*(?:new|replacement|alternative) flights?(?: details)?\W*$"
    r"|\bumgebucht|ihr (?:neuer|alternativer) flug|ersatzflug|^\W*neuer flug\b|votre nouveau vol|vol de remplacement"
    r"|^\W*nouveau vol\b|(?:avons|ete) (?:re)?places?\b|(?:tu|su) nuevo vuelo|^\W*(?:nuevo vuelo|vuelo alternativo)\b"
    r"|reubicad[oa]|reprogramad[oa]|il (?:tuo|suo) nuovo volo|^\W*(?:nuovo volo|volo alternativo)\b|riprotett[oaie]"
    r"|riprogrammat|o (?:seu|teu) novo voo|^\W*(?:novo voo|voo alternativo)\b|reacomodad|(?:uw|je) nieuwe vlucht"
    r"|^\W*(?:nieuwe|vervangende) vlucht\b|\bomgeboekt|振替便(?!を(?:こ|お)?希望)|代替便(?!を(?:こ|お)?希望)",
    re.M,
)
# What is booked besides a flight or a room; its end is none of the booking's.
EXTRA = join_words("extra")
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=\S)[^.!?\n]*)*[.!?]?")
_CANCELLED_HEAD = re.compile(
    r"\b(?:cancell?ed|storniert|annulliert|gestrichen|annulee?|cancelad[oa]|annullat[oa]|cancellat[oa]|geannuleerd)\b"
    r"[)\]:!]*\s*$"
)


# What is sold whole: a title that names it is of no extra.
_WHOLE = re.compile(
    r"\b(?:flights?|tickets?|fares?|trips?|journeys?|bookings?|reservations?|itinerar(?:y|ies)|stays?|flug\w*|fluge"
    r"|hinflug|ruckflug"
    r"|\w*buchung\w*|reserv\w+|hotel\w*|reise\w*|vols?|billets?|voyages?|reservas?|vuelos?|billetes?|boletos?|viajes?"
    r"|vol[oi]"
    r"|bigliett[oi]|viagg\w+|prenotazion[ei]|voos?|bilhetes?|viage(?:m|ns)|vlucht\w*|reis\w*|boeking\w*|bokning\w*"
    r"|resa|rejse|reise"
    r"|lot|lotu|bilet\w*|rezerwacj\w*|ucus\w*|rezervasyon\w*|рейс\w*|билет\w*|бронирован\w*)\b|航空券|予約|旅程"
    r"|便|항공권|예약|机票"
    r"|機票|航班|预订|預訂"
)


def is_of_extra(folded: str) -> bool:
    """Whether a title or the words of an amount name what is sold besides a flight, and no flight."""
    rest, extras = EXTRA.subn(" ", folded)
    return extras > 0 and not _WHOLE.search(rest)


_RECEIPT = re.compile(
    "|".join(
        (
            join_words("proof").pattern,
            r"\bpurchase|\breceipt|\binvoice|\byour\b|\bihr|\bvotre|\bsu\b|\btu[oa]?\b|rechnung|facture|factura"
            r"|fattura|fatura|factuur|領収",
        )
    )
)
_LONG = 20_000  # characters in which a letter that calls flights off shows them
_TITLE = 60  # characters


def is_receipt_of_extra(text: Text) -> bool:
    """Whether the subject or a heading of a letter calls it the receipt of an extra: "Your seat is confirmed"."""
    lines = [line for line in text.body[:1500].split("\n") if len(line) < _TITLE]
    heading = next((line for line in map(fold, lines) if line.strip()), "")
    return any(is_of_extra(title) and _RECEIPT.search(title) for title in (fold(text.subject), heading))


def is_of_railway(folded: str) -> bool:
    """Whether a letter speaks of trains in more than one way, and in no way of flying; trains have e-tickets too."""
    words = len({m[0] for m in _RAILWAY.finditer(folded)})
    of_air = {m[0].replace("-", "").rstrip("s") for m in _AIR.finditer(folded)} if words > 1 else set()
    return words > (2 if of_air else 1) and of_air <= {"eticket"}


# Signs of a hired car, of which a letter of one has several; it names the flight its driver comes with.
_CAR = re.compile(
    r"\b(pick[ -]?up|drop[ -]?off|car hire|car rental|rental car|rental agreement|vehicle|or similar"
    r"|driver'?s? licen[cs]e"
    r"|collision damage|mileage|abholung|ruckgabe|fahrzeug(?:klasse)?|mietwagen|miete|autovermietung|oder ahnlich"
    r"|fuhrerschein|vollkasko|prise en charge|restitution|vehicule|ou similaire|permis de conduire"
    r"|location de voiture"
    r"|recogida|devolucion|vehiculo|o similar|carnet de conducir|alquiler|entrega|coche|ritiro|riconsegna|veicolo"
    r"|o simile|patente|noleggio|franchigia|retirada|levantamento|veiculo|ou similar|carta de conducao|aluguer"
    r"|aluguel"
    r"|location \d+ jours?|kilometrage|votre vehicule|conducteurs?|mietdauer|kilometer inkl\w*|kilometraje"
    r"|chilometraggio|quilometragem|huurperiode|unlimited miles|[cemifspl][bcdwvst][am][rn](?=[,:) ])"
    r"|ophalen|inleveren|voertuig|of vergelijkbaar|rijbewijs|huurauto|autohuur)\b|(レンタカー|貸出|返却|免許)"
)
_CAR_SIGNS = 3
# Signs of an offer, of which a letter that advertises has several and no booking has.
_OFFER = re.compile(
    r"\b(unsubscribe|stop receiving|you received this (?:message|e-?mail) because you subscri|bonus (?:avios|miles"
    r"|points)"
    r"|each way|one[ -]way,? from|book (?:now|by|before|until|your (?:next )?(?:flight|stay|trip))|% off|save up to"
    r"|up to \d+%"
    r"|subject to availability|fares? (?:are|is) per person|availability is limited|from (?:[$€£]|eur|usd|gbp) ?\d"
    r"|abmelden|abbestellen|jetzt buchen|bis zu \d+ ?%|ab \d+[.,]?\d* ?(?:€|eur|euro)|verfugbarkeit|pro strecke"
    r"|desabonner|desinscrire|reservez (?:vite|avant|maintenant|des)|a partir de \d|jusqu'a -?\d+ ?%|offre valable"
    r"|darse de baja|reserva (?:ya|ahora|antes)|desde \d|hasta (?:un )?\d+ ?%|sujeto a disponibilidad|por trayecto"
    r"|disiscri\w*|prenota (?:ora|entro|subito)|a partire da \d|da \d+[.,]?\d* ?(?:€|euro)|fino al \d+ ?%"
    r"|soggett\w a disp"
    r"|cancelar (?:a )?(?:inscricao|assinatura)|reserve (?:ja|agora|ate)|por trecho|sujeito a disponibilidade"
    r"|uitschrijven|afmelden|boek (?:nu|voor|snel)|vanaf (?:€|eur) ?\d|tot \d+ ?% korting)"
    r"|(配信停止|キャンペーン|今すぐ予約|セール|往復.{0,8}円から|円[~〜]|残席)"
)
_OFFER_SIGNS = 3
_BOOKED = re.compile(
    r"your (?:booking|reservation|itinerary|e-?ticket) (?:is|has|details|confirm)|\be-?ticket (?:number|receipt)"
    r"|ticket number"
    r"|booking (?:confirmed|confirmation)|reservation (?:confirmed|confirmation)|total (?:paid|price|amount)"
    r"|amount paid"
    r"|buchungsbestatigung|ihre (?:buchung|reservierung) (?:ist|wurde)|gesamtpreis"
    r"|confirmation de (?:votre )?reservation"
    r"|votre reservation est|confirmacion de (?:tu|su|la) reserva|importe total|conferma (?:di|della) prenotazione"
    r"|confirmacao (?:de|da) reserva|boekingsbevestiging|予約(?:完了|確認|内容)|購入内容"
)


# The flight with which someone comes who hires a car or takes a train.
_COMES_WITH = re.compile(
    r"^[^\w\n]*(?:(?:your|votre|numero (?:de|du)|ihr|tu|su|il tuo|o seu|uw|je) )?(?:(?:arriv(?:al|ing)"
    r"|incoming) flight"
    r"|vol d'arrivee|vol (?:a l')?arrivee|ankunftsflug|ankommender flug|vuelo de llegada|volo (?:di|in) arrivo"
    r"|voo de chegada|aankomstvlucht|aankomende vlucht|到着便|こ?利用便)(?: ?(?:number|no\.?|nummer|nr\.?"
    r"|details|名))?"
    r"\s*[:\t ]\s*[a-z0-9]{2} ?\d{1,4}\b[^\n]{0,60}$",
    re.M,
)


def cut_arriving_flight(body: str, folded: str) -> str:
    """A letter of a car or a train without the flight with which the traveller comes; `folded` as long as it."""
    arriving = list(_COMES_WITH.finditer(folded)) if len(body) == len(folded) else []
    if not arriving or not (is_of_car(folded) or len({m[0] for m in _RAILWAY.finditer(folded)}) > 1):
        return body
    out, last = [], 0
    for match in arriving:
        out.append(body[last : match.start()])
        last = match.end()
    return "".join(out) + body[last:]


def is_of_car(folded: str) -> bool:
    """Whether a letter speaks of a hired car in several ways."""
    return len({m[1] or m[2] for m in _CAR.finditer(folded)}) >= _CAR_SIGNS


def is_offer(folded: str) -> bool:
    """Whether a letter advertises in several ways, and says nothing of what was booked."""
    if _BOOKED.search(folded):
        return False
    return len({re.sub(r"\d", "", m[1] or m[2]) for m in _OFFER.finditer(folded)}) >= _OFFER_SIGNS


def is_of_parking_or_ship(folded: str) -> bool:
    """Whether a letter speaks of a place for a car, of a crossing or a table, and in no way of nights."""
    return bool(_PARKING_OR_SHIP.search(folded)) and not _LODGING.search(folded)


def name_other(folded: str) -> str:
    """What a letter of neither a flight nor a stay is about; empty where that is not certain."""
    if is_of_railway(folded):
        return "a train"
    if is_of_car(folded):
        return "a hired car"
    return "parking, a ship or a table" if is_of_parking_or_ship(folded) else ""


def says_partly_cancelled(body: str) -> bool:
    """Whether a letter cancels one thing and says of another that it stands, or takes its place; or cancels one flight
    by its number and shows another of its airline."""
    folded = fold(body)
    if not says_cancelled(folded[:1500]):
        return False
    return bool(_PARTLY.search(folded) or _REBOOKED.search(folded)) or _cancels_one_of_several(body)


def _cancels_one_of_several(body: str) -> bool:
    sentences = [m[0] for m in _SENTENCE.finditer(body[:_LONG]) if says_cancelled(fold(m[0]))]
    called_off = [{m[0].replace(" ", "") for m in _NUMBER.finditer(sentence)} for sentence in sentences]
    if not called_off or not all(called_off):
        return False
    numbers = set().union(*called_off)
    others = {m[0].replace(" ", "") for m in _NUMBER.finditer(body[:_LONG])} - numbers
    return any(other[:2] == number[:2] for other in others for number in numbers)


def cancels_extra_alone(folded: str) -> bool:
    """Whether all that a letter cancels is a seat, a bag, a car or the like, and no booking."""
    sentences = [m[0] for m in _SENTENCE.finditer(folded) if says_cancelled(m[0])]
    return bool(sentences) and all(EXTRA.search(sentence) for sentence in sentences)


def cut_cancelled(body: str) -> str:
    """Without the paragraphs whose first line ends with the word that they are cancelled, without the sentences that
    say so of something, and without the flights whose status is that."""
    paragraphs = re.split(r"(\n[ \t]*\n)", body)
    whole = "".join(p for p in paragraphs if not _CANCELLED_HEAD.search(fold(p.strip().split("\n", 1)[0])))
    whole = _SENTENCE.sub(lambda m: " " if says_cancelled(fold(m[0])) and re.search(r"\d", m[0]) else m[0], whole)
    return _cut_by_status(whole)


_STATUS = re.compile(
    r"^\W*(?:status|estado|stato|statut|etat)?\s?[:\t]?\s?(?:cancell?ed|storniert|annulliert|gestrichen|annulee?"
    r"|cancelad[oa]|annullat[oa]|cancellat[oa]|geannuleerd|欠航)\W*$"
)
_NUMBER = re.compile(r"\b(?:[A-Z]{2}|[A-Z]\d|\d[A-Z]) ?\d{1,4}\b")


def _cut_by_status(text: str) -> str:
    """Drops the lines from the last flight number above a line that says no more than "cancelled", and the
    lines above that number up to a blank one."""
    lines: list[str] = []
    for line in text.split("\n"):
        if _STATUS.match(fold(line[:60])) and len(line) < 60:
            first = next(
                (at for at in range(len(lines) - 1, max(-1, len(lines) - 12), -1) if _NUMBER.search(lines[at])), None
            )
            start = len(lines) if first is None else first
            head = start
            while head and lines[head - 1].strip() and not _NUMBER.search(lines[head - 1]):
                head -= 1
            del lines[start if head and lines[head - 1].strip() else head :]
        else:
            lines.append(line)
    return "\n".join(lines)
