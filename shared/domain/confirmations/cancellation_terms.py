"""The last day on which a stay can be cancelled without a charge."""

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from shared.domain.confirmations.clean_text import join_wrapped
from shared.domain.confirmations.mail_dates import MailDates
from shared.domain.parsing.text import fold

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
