"""Days a letter names that are none of its flights: of a payment, a limit, an offer, an earlier booking."""

import re

from shared.domain.confirmations.mail_dates import Day

OTHER_DAYS = re.compile(
    r"issue|issued|booked on|date booked|booked:"
    r"|booking date|date of booking|date of change|purchase|payment|paid on|expir|valid|birth"
    r"|cancel|refund|deadline|receipt date|invoice|ticketed"
    r"|ausgestellt|gebucht am|buchungsdatum|check-?in opens|return by|member since|last updated|sent:|printed"
    r"|date d'emission|date de reservation|fecha de emision|fecha de reserva|fecha de compra|data di emissione"
    r"|data (?:della )?prenotazione|data de emissao|data da reserva|boekingsdatum"
    r"|date d'achat|data (?:di acquisto|da compra|d'acquisto)|aankoopdatum|geboekt op|kaufdatum"
    r"|発行日|予約日|購入日|申込日|購入期限|領収|\bbis zum\b"
    r"|\bpaid (?:with|by)|charged|bezahlt|\bpaye(?:e|s)? (?:par|avec)|\bpagad[oa]|\bpagat[oa]|betaald"
    r"|rechnung|\bfactur[ae]\b|\bfattura|\bfatura|factuur"
    r"|(?:previous|earlier|former|past) (?:booking|reservation)|(?:fruhere|vorherige|letzte) buchung"
    r"|reservation (?:precedente|anterieure)|reserva anterior|prenotazione precedente|(?:vorige|eerdere) boeking|前回"
)
# Up to when an offer or a rate holds: the one such day of a line is none of a flight.
_LIMIT = re.compile(
    r"\b(?:until|before|by|bis|vor|jusqu'au|avant|hasta|antes del?|fino al|entro|ate|tot(?: en met)?|t/m|voor)"
    r"(?: (?:the|dem|den|zum|le|el|il|dia|ao?))? (?:[^\W\d]{2,13}\.?,? )?$"
)
_LIMIT_BEHIND = re.compile(r"[\d日]{0,3}\s?(?:\(.\))?\s?まて")


def drop_limit(bare: str, spans: list[Day]) -> list[Day]:
    """The days of a line; none where its only one is that up to which an offer holds."""
    lone = len(spans) == 1 and (
        _LIMIT.search(bare[: spans[0].start][-40:]) or _LIMIT_BEHIND.match(bare[spans[0].end :])
    )
    return [] if lone else spans
