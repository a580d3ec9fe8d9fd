"""What letters call the number of a booking.

`CONFIRMATION` names a booking's number beyond doubt. `BARE` is the noun alone, and `ORDER` a number of the shop that
sold it: both count only where nothing better stands in the letter.
"""

import re

from shared.domain.confirmations.letter_languages import join_words

NUMBER_LABELS = join_words("number").pattern  # of the languages that this module does not spell out
# "No.", "Nr.", "N°", "n.º", "núm.", "number" in folded text, where signs such as "º" stay as they are.
_MARK = r"(?:n(?:\.? ?[°º]|um(?:ero|mer|ber)?s?\b\.?|rs?\b\.?|os?\b\.?|\.)|#)"
_ROMANCE_WORD = (
    rf"(?:{_MARK}|codigo|codice|cod\.|code|reference|ref\b\.?|referencia|clave|localizador|riferimento|rif\b\.?"
    r"|identifiant|identificador|id)"
)
_OF = r" ?(?:d[eai] |del |d'|della? |dell')?(?:l[ae] |l'|tu |su |vo(?:tre|s) |ta |(?:la )?(?:sua|tua) )?"
_ROMANCE_NOUN = (
    r"(?:reservations?\b|reserva(?:cion)?\b|prenotazione|confirmation\b|confirma(?:cion|cao)\b|conferma\b|dossier"
    r"|pratica\b|expediente|itineraire|itinerario|localizador|viaje\b|viagem\b|voyage\b)"
)
_NOUN = (
    r"(?:reserva(?:tion|cion)?|prenotazione|confirmation|confirma(?:cion|cao)|conferma|dossier|pratica|expediente"
    r"|processo|reservierung|bestatigung|boeking|reservering|bevestiging|vorgang|booking)"
)

# Letters of East Asia stand right beside it, and call it a code or a number.
_PNR = r"(?<![a-z0-9])pnr(?![a-z0-9])(?: ?[^\W\d_a-z]{2,4}(?=[ :：\t]))?"

CONFIRMATION = re.compile(
    r"(?:confirmation|booking|reservation|reference|itinerary|trip|record)(?: ?/ ?ticket)?"
    r" ?(?:confirmation )?(?:numbers?|num\b\.?|no\.?|nr\.?|codes?|reference|ref\.?|id|locator|#)(?: \(pnr\))?"
    r"|confirmation(?= ?[:#\t])|confirmed under(?: the)? (?:number|reference|code)?"
    rf"|{_PNR}|booking ref|(?:airline )?locator|reservation(?= ?[:#\t])|reference(?= ?[:#\t])"
    r"|(?<![a-z])ref(?:erence)?\.? ?(?:n[or]\b\.?|number|#)|conf\.? ?(?:no|nr|#)\.?"
    r"|(?:buchungs?|reservierungs?|bestatigungs?|auftrags?|vorgangs?|referenz|reiseplan|reise)[ -]?"
    r"(?:nummer|nr\b\.?|code|referenz|kennung|id\b|schlussel|kennzeichen|zeichen)"
    r"|(?:reserverings?|boekings?|bevestigings?|referentie|dossier|reis)[ -]?"
    r"(?:nummer|nr\b\.?|code|referentie|kenmerk|id\b)(?: luchtvaartmaatschappij)?"
    rf"|(?<![a-z]){_ROMANCE_WORD}{_OF}{_ROMANCE_NOUN}"
    rf"|(?<![a-z]){_NOUN} ?(?:n(?:\.? ?[°º]|um(?:ero|mer)?\b\.?|r\b\.?|o\.|\.)|#)"
    r"|dossier(?= ?[:\t])|localizador(?: de reserva)?|localizzatore"
    rf"|{NUMBER_LABELS}"
    r"|(?:booking|reservation) (?:reference|code|number)(?= is\b)|(?:file|dossier) ?(?:number|nummer)|filekey"
    r"|(?<=\t)confirmation$"
    r"|予約(?:確認|受付|照会|管理)?(?:番号|コート|no\b\.?|id\b|記号)|(?:受付|お?申し?込み?|旅程|手配|照会)(?:番号|コート|no\b\.?)"
    r"|確認(?:コート|番号)"
)
# The code of the airline itself, which counts before the number of an agency or a shop.
AIRLINE = re.compile(
    r"\bairline(?:'s)? (?:booking |confirmation |record |reservation )?(?:reference|locator|code|confirmation|pnr)"
    r"(?: ?(?:number|code|no\.?|#))?(?: \(pnr\))?|\b(?:airline|carrier) (?:reservation|booking) (?:number|code)"
    rf"|{_PNR}(?! ?(?:agency|agent))|\brecord locator|(?:airline|flug)[- ](?:buchungscode|buchungsnummer|referenz)"
    r"|\breference (?:de la )?compagnie|\blocalizador (?:de la )?(?:aerolinea|compania)"
    r"|\bcodice (?:della )?compagnia|\bcodigo (?:da )?companhia|airline-?referentie|航空会社(?:予約|確認)?番号"
)
BARE = re.compile(
    r"(?<![a-z])(?:reserva(?:tion|cion)?|buchung|reservierung|prenotazione|boeking|reservering|booking|conferma"
    r"|confirma(?:tion|cion|cao)|bestatigung|bevestiging|expediente|pratica|vorgang|itinerary|reiseplan|referenz"
    r"|referentie|reference|referencia|riferimento|kenmerk|ref\.?)(?=\s*[:#\t]|\s*$| for [^:\n]{3,40}:)"
    r"|(?<![a-z])ref\.(?= ?[a-z]{0,4}\d)|予約(?=[:】])"
)
ORDER = re.compile(
    r"(?<![a-z])(?:order|purchase|transaction|voucher) ?(?:number|no\.?|nr\.?|code|reference|ref\.?|id\b|#)"
    r"|bestell(?:ung)?s?[ -]?(?:nummer|nr\b\.?)|bestelnummer|ordernummer|voucher-?(?:nummer|nr\b\.?|code)"
    rf"|(?<![a-z]){_ROMANCE_WORD}{_OF}(?:commande|pedido|compra|ordine|bono|voucher)\b"
    rf"|(?<![a-z])(?:commande|pedido|compra|ordine) ?{_MARK}"
    r"|(?:こ?注文|お?問い?合わ?せ|管理|整理)(?:番号|no\b\.?)"
)
