"""Phrases of confirmations in many languages: cabins, booking numbers, cancellation and marks of forwarding."""

import re
from functools import lru_cache

_CABINS = {
    "premium_economy": r"premium[ _-]?(?:economy|eco|select|class(?!\w))|world traveller plus|economy premium"
    r"|premium plus"
    r"|economica premium|eco premium|turista premium|premium comfort|(?<!saga )premium (?:light|classic|flex"
    r"|standard)|premium klasse|sas plus|premium tourist"
    r"|(?:^|[\t|])\s*premium\s*(?=$|[\t|])|フレミアムエコノミー|^\s*(?:cabin|class|klasse|cabine|clase|classe"
    r"|kabine)\s?:?\s+premium\s*(?:\(|$)",
    "first": r"first(?: class| suite)|flagship first|la premiere|erste klasse|primera clase|prima classe"
    r"|premiere classe"
    r"|first(?=\s?\([a-z]\))|primeira classe|royal first|the residence|first apartment|ファーストクラス|^\s*(?:first"
    r"|primera|premiere)\s*$"
    r"|(?<=[|\t,(/])\s?first\s?(?=[|\t,)(]|$)|eerste klas(?:se)?",
    "business": r"business(?! (?:days?|cent|hours|travel|trip|name|address|traveller|select|lounge|number|id\b))"
    r"|club (?:world|europe|suite)|saga (?:premium|class)|signature class|royal silk|prestige (?:class|suite)"
    r"|polaris|upper class|q-?suite|delta one|clase ejecutiva|executive class|classe executiva|classe executive"
    r"|classe affaires|affaires|clase business|ejecutiva|executiva|mint (?:suite|studio|class)"
    r"|(?:^|[\t|])\s*(?:mint|executive)\s*®?\s*(?=$|[\t|])|ヒシネスクラス",
    "economy": r"economy|world traveller|euro traveller|main cabin|coach|turista|classe economique|economica"
    r"|economique|wirtschaftsklasse|light fare|\beco\b|delta comfort|comfort plus|sas go|lowfare|econo\b|economie"
    r"|ekonomi\w*"
    r"|エコノミークラス|普通席|tourist class|touristenklasse",
}
_SUITES = re.compile(r"\bsuites?\b")  # a cabin only where no other is named: "Club Suite" is business
_CABIN = [(name, re.compile(words)) for name, words in _CABINS.items()]


_ANY_CABIN = re.compile("|".join(_CABINS.values()) + "|" + _SUITES.pattern)


@lru_cache(maxsize=4_096)
def find_cabins(folded: str) -> frozenset[str]:
    """Every cabin a text names; the words of a better one do not count as those of another."""
    if not _ANY_CABIN.search(folded):
        return frozenset()
    cabins: set[str] = set()
    for name, words in _CABIN:
        folded, hits = words.subn(" ", folded)
        if hits:
            cabins.add(name)
    return frozenset(cabins or ({"first"} if _SUITES.search(folded) else ()))


_CABIN_LABEL = re.compile(
    r"(?<![a-z])(?:cabin(?: class)?|class(?: of (?:service|travel))?|cabine|klasse|reiseklasse|clase|cabina"
    r"|classe(?: di viaggio)?"
    r"|reisklasse|klas|クラス|座席クラス)\s?[:\t]\s*(?=[a-z]{3})"
)


def names_other_cabin(folded: str) -> bool:
    """Whether a line tells a cabin in words that are none of the above."""
    match = _CABIN_LABEL.search(folded)
    return match is not None and not find_cabins(folded[match.end() :])


def find_cabin(folded: str) -> str | None:
    """The one cabin a text names; None when it names none or several."""
    cabins = find_cabins(folded)
    return next(iter(cabins)) if len(cabins) == 1 else None


CONFIRMATION = re.compile(
    r"(?:confirmation|booking|reservation|reference|itinerary|trip)(?: ?/ ?ticket)?"
    r" ?(?:confirmation )?(?:number|no\.?|nr\.?|code|reference|ref\.?|id|#)(?: \(pnr\))?|confirmation(?= ?[:#\t])"
    r"|record locator|\bpnr\b"
    r"|booking ref|(?:airline )?locator|reservation(?= ?[:#\t])|reference(?= ?[:#\t])|conf\.? ?(?:no|nr|#)\.?"
    r"|buchungs(?:nummer|code|nr\.?|referenz)|reservierungs(?:nummer|code|nr\.?)|bestatigungs(?:nummer"
    r"|code)|auftragsnummer"
    r"|(?:numero|n°|no|code|reference|ref\.?) de (?:la |votre )?(?:reservation|confirmation|dossier)"
    r"|dossier(?= ?[:\t])"
    r"|(?:numero|codigo|localizador) (?:de|da|de la) (?:tu |su )?(?:reservacion|reserva|confirmacion"
    r"|confirmacao)|localizador(?: de reserva)?"
    r"|(?:numero|codice) (?:di |della )?(?:prenotazione|conferma)|(?:reserverings|boekings|bevestigings)(?:nummer"
    r"|code)(?: luchtvaartmaatschappij)?"
    r"|boekingsnummer|bookingreferanse|bokningsnummer"
    r"|(?:booking|reservation) (?:reference|code|number)(?= is\b)|bokningsreferens|bokningskod|reservationskod"
    r"|codigo da reserva|codigo de confirmacion|(?:file|dossier) ?(?:number|nummer)|boekingscode|boekingsreferentie"
    r"|reserveringscode|filekey|reservation code|reiseplannummer|code de (?:confirmation|reservation)"
    r"|(?:codigo|clave) de reservacion|(?<=\t)confirmation$"
    r"|reference (?:de )?(?:votre )?dossier|codice prenotazione|codigo reserva|clave de reserva"
    r"|id prenotazione|buchungs-?id|booking id"
    r"|予約(?:確認)?番号|予約コート|確認コート|確認番号|预订编号|确认号"
)
# Phrases of a cancelled booking. Cancellation terms use other words.
_CANCELLED = re.compile(
    r"(?:has|have) been (?:successfully )?cancell?ed|(?:is|are|was|were) (?:now )?cancell?ed(?! (?:by"
    r"|before|within|after|less|if))"
    r"|cancell?ation (?:confirmation|confirmed|number|notice|no\.)|(?:booking|reservation|flight"
    r"|trip|stay) cancell?ed"
    r"|cancell?ed:|confirmation of (?:your )?cancell?ation|we(?:'ve| have) cancell?ed"
    r"|wurde(?:n)? (?:\w+ )?storniert|stornierungsbestatigung|stornobestatigung|ist storniert"
    r"|wurde(?:n)? (?:\w+ )?(?:annulliert|gestrichen)|ist annulliert"
    r"|(?:a|ont) (?:bien )?ete annule|confirmation d'annulation|annulation (?:de votre|confirmee)"
    r"|ha sido cancelad|fue cancelad|confirmacion de cancelacion|cancelacion de (?:tu|su) reserva"
    r"|foi cancelad|cancelamento (?:da sua|confirmado)|e stata (?:cancellata|annullata)|conferma di cancellazione"
    r"|is geannuleerd|annuleringsbevestiging"
    r"|取り?消(?:され|しました|か完了)|キャンセル(?:され|か完了|しました|を承り)"
)
_UNSETTLED = re.compile(
    r"not (?:yet )?(?:been )?(?:confirmed|ticketed)|is pending|on hold|wait-?list|(?:price|fare) quot"
    r"|awaiting (?:payment|confirmation)"
    r"|request received|noch nicht bestatigt|en attente de|pendiente de (?:pago|confirmacion)"
)


# A condition earlier in the sentence ("if your flight is cancelled") makes the phrase a mere possibility.
_SUPPOSED = re.compile(
    r"\b(?:if|in case|in the event|unless|when|whenever|whether|falls|wenn|sofern|si|en cas|en caso|cuando|in caso"
    r"|quando|als|indien)\b[^.!?;\n]*$"
)


def says_cancelled(folded: str) -> bool:
    """Whether a text states a cancellation; cancellation terms do not count."""
    return any(not _SUPPOSED.search(folded[max(0, m.start() - 120) : m.start()]) for m in _CANCELLED.finditer(folded))


_CHANGED = re.compile(
    r"(?:flight|trip|booking|itinerary|reservation|schedule|departure time)s? (?:has|have) (?:been )?changed"
    r"|schedule change|change (?:to|of|in) your (?:flight|trip|booking|itinerary|reservation|schedule)"
    r"|your (?:previous|original|old) (?:flight|itinerary|departure)\b|your new (?:flight|itinerary|departure) "
    r"|(?:previous|original|old) (?:flight|itinerary|departure)(?: (?:details|time|schedule)s?)?\s?(?::|\n|$)"
    r"|flugzeitenanderung|flugplananderung|anderung (?:ihrer|ihres) (?:flug|buchung|reise)"
    r"|modification de (?:votre|vos) (?:vol|reservation|voyage)|votre vol a ete modifie"
    r"|cambio (?:de|en) (?:tu|su) (?:vuelo|reserva|horario)|modifica (?:del|al) (?:tuo|suo) volo"
    r"|alteracao (?:do|no) (?:seu )?voo|alteracao de horario|o seu voo foi alterado"
    r"|wijziging (?:van|in) (?:uw|je) (?:vlucht|boeking|reis)|(?:vlucht|boeking|vluchttijden) (?:is"
    r"|zijn) gewijzigd|schemawijziging"
    r"|(?:flug|flugzeiten?|buchung|abflugzeit)\w* (?:hat|haben|wurden?) (?:sich )?geandert|neue (?:flug|abflug)zeit"
    r"|(?:su|tu) vuelo ha (?:sido )?(?:cambiado|modificado)|modificacion de (?:su|tu) (?:vuelo|reserva)"
    r"|cambio de horario"
    r"|(?:booking|reservation|stay) (?:has been|was|is) (?:modified|updated|amended)|previous dates?\s?:"
    r"|reservation a ete modifiee|reserva (?:ha sido modificad|foi alterad)a|prenotazione e stata modificata"
    r"|reservering is gewijzigd"
    r"|nouveaux? horaires?|changement d'horaires?|il (?:tuo|suo) volo e (?:stato )?(?:cambiato|modificato)"
    r"|cambio (?:di )?orario"
    r"|(?:時刻|便名?|こ?予約|スケシュール)の?変更|変更前"
)


def says_changed(folded: str) -> bool:
    """Whether a letter tells of a change to what was booked before."""
    return bool(_CHANGED.search(folded))


def says_unsettled(folded: str) -> bool:
    return bool(_UNSETTLED.search(folded))


_PREFIX = re.compile(r"^\s*(?:(?:fwd?|fw|wg|tr|rv|enc|vs|i|re|aw|antw|doorst)\s*:\s*)+", re.I)
FORWARDED = re.compile(
    r"^[ >\t]*(?:-{2,} ?(?:forwarded message|original message|weitergeleitete nachricht|ursprungliche nachricht"
    r"|urspr\. mitteilung|message (?:transfere|d'origine|original)|mensaje (?:reenviado|original)"
    r"|mensagem (?:encaminhada|original)"
    r"|messaggio (?:inoltrato|originale)|doorgestuurd bericht)[ -]*-*|(?:begin forwarded message"
    r"|anfang der weitergeleiteten nachricht"
    r"|debut du message (?:reexpedie|transfere)|inicio del mensaje reenviado|inizio messaggio inoltrato"
    r"|転送されたメッセージ) ?:?)\s*$",
    re.M,
)
_NAMES = (
    r"from|von|de|da|van|sent|date|gesendet|datum|envoye(?: le)?|enviado(?: el)?|inviato|data|fecha|verzonden"
    r"|to|an|a|para|aan|cc|kopie|差出人|日付|送信日時|宛先"
)
SUBJECT = re.compile(r"^\*?(?:subject|betreff|objet|asunto|assunto|oggetto|onderwerp|件名)\*? ?:\*?\s*")
SENT = re.compile(
    r"^\*?(?:sent|date|gesendet|datum|envoye(?: le)?|enviado(?: el)?|inviato|data|fecha|verzonden|送信日時"
    r"|日付)\*? ?:\*?\s*"
)
FROM = re.compile(r"^\*?(?:from|von|de|da|van|差出人)\*? ?:\*?\s*")
HEADER = re.compile(
    rf"^\*?(?:{_NAMES}|subject|betreff|objet|asunto|assunto|oggetto|onderwerp|件名|reply-to|antwort an)\*? ?:"
)


def strip_subject(subject: str) -> tuple[str, bool]:
    """The subject without the marks of forwarding, and whether it bore one."""
    bare = _PREFIX.sub("", subject)
    return bare.strip(), bool(re.match(r"\s*(?:fwd?|fw|wg|tr|rv|enc|i|doorst)\s*:", subject, re.I))
