"""The stay behind a bill: dates, nights, guests, tier and how it was paid."""

import re
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise

from shared.domain.folio.model import Bill, Chain, FolioStay, StayType
from shared.domain.folio.text import is_part_cash
from shared.domain.parsing.amounts import first_amount
from shared.domain.parsing.dates import Order, find_dates, first_time
from shared.domain.parsing.text import fold

_IN = (
    r"arriv(?:al|ed|es?)|arr\b|check(?:ed)?[ -]?in|in\b|from|anreise|ankunft|von|arrivee|llegada|entrada|arrivo|"
    r"chegada|aankomst|ankomst|przyjazd|giris|prijezd|заезд|到着|チェックイン|宿泊開始|入住(?:日期)?|입실|체크인"
)
_OUT = (
    r"depart(?:ure|ed|s)?|dep\b|check(?:ed)?[ -]?out|out\b|abreise|bis|depart|"
    r"salida|partenza|partida|saida|vertrek|avreise|avresa|afrejse|wyjazd|cikis|odjezd|выезд|出発|チェックアウト"
    r"|(?:离店|退房)(?:日期)?|퇴실|체크아웃"
)
_LABEL = re.compile(
    rf"(?:\b|こ|御)(?:(?P<in>{_IN})|(?P<out>{_OUT}))[^\w\n]*(?:date|datum|on|am|le|el|il|em|日)?[^\w\n]*$"
)
_SPAN = re.compile(r"^[\s,]*(?:-|to|until|till|through|thru|bis|au|al|a|ate|/)[\s,]*$")
_NIGHTS = re.compile(
    r"\b(\d{1,3})[ -]?(?:nights?|nachte?|naechte|ubernachtung(?:en)?|nuite?e?s?|noches?|nott[ei]|noites?|diarias|"
    r"nachten)\b|(\d{1,2})泊"
)
_NIGHTS_AFTER = re.compile(r"\b(?:nights?|nachte|nuits|noches|notti|noites)\s*[:=]\s*(\d{1,3})\b")
_GUESTS = re.compile(
    r"\b(\d{1,2})\s*(?:guests?|adults?|persons?|people|pax|gaste|personen|erwachsene|adultes?|personnes?|adultos?|"
    r"personas?|huespedes|adulti|persone|ospiti|pessoas|hospedes|gasten|volwassenen)\b|(\d{1,2}) ?名"
)
_GUESTS_AFTER = re.compile(
    r"\b(?:guests|adults|persons|pax|no\. of guests|gaste|personen|erwachsene|adultes|personnes|adultos|personas|"
    r"adulti|persone|pessoas|adults?\s?/\s?child(?:ren)?)\s*[:=]?\s*(\d{1,2})\b"
)
_ROOMS = re.compile(r"\b(\d{1,2})\s*(?:rooms|zimmer|chambres|habitaciones|camere|quartos)\b(?!\s*\d)")
_CONFIRMATION = re.compile(
    r"\b(?:confirmation|conf|booking|reservation|reservierung|buchung|reserva|prenotazione)"
    r"(?:\s*(?:number|no|nr|num|#|code))?\.?\s*[:#]*\s*((?=[a-z-]*\d)[a-z0-9-]{5,20})\b"
)
_AWARD = re.compile(
    r"free night (?:award|certificate)|award (?:redemption|stay|night|category|rate)|\baward:|points redemption|"
    r"reward (?:night|stay|redemption)|room reward|redemption stay|certificate stay|"
    r"pramiennacht|pramienaufenthalt|nuit prime|noche de premio|notte premio|noite premio"
)
_NO_AWARD = re.compile(r"nightly upgrade award|suite night award|suite upgrade award|club access award|no award")
_ADVANCE = re.compile(r"points? advance")
_GUEST_OF_HONOR = re.compile(r"guest of honou?r")
_MEMBERSHIP = (
    r"bonvoy|honors|hh ?#?|world of hyatt|woh|ihg(?: one)?(?: rewards)?|"
    r"member(?:ship)?|elite|status|tier|level|inter.?continental"
)
_AMERICAN = ("US", "PR", "VI", "GU")
# Places outside the United States where hotels bill in US dollars or use its sign.
_ABROAD = re.compile(
    r"\b(canada|mexico|cancun|los cabos|cabo san lucas|playa del carmen|bahamas|aruba|curacao|jamaica|barbados|"
    r"costa rica|panama|belize|guatemala|el salvador|colombia|cartagena|peru|ecuador|chile|argentina|uruguay|"
    r"dominican republic|punta cana|cayman|turks|st\.? lucia|grenada|antigua|bermuda|maldives|seychelles|mauritius|"
    r"fiji|bora bora|indonesia|bali|vietnam|cambodia|egypt|jordan|kenya|tanzania|zanzibar|ethiopia|lebanon|"
    r"australia|singapore|hong kong|new zealand|taiwan)\b"
)


def is_abroad(currency: str | None, country: str | None, header: str, european: bool) -> bool:
    """Whether the hotel is known to be outside the United States: by address, currency, or day-first dates."""
    if country is not None:
        return country not in _AMERICAN
    return currency not in (None, "USD") or european or _ABROAD.search(header) is not None


def _find_number(text: str, *patterns: re.Pattern[str]) -> int | None:
    for pattern in patterns:
        if (match := pattern.search(text)) and 0 < (number := int(match[match.lastindex or 1])) < 100:
            return number
    return None


def _find_stay_dates(header: str, order: Order) -> tuple[date | None, date | None, int]:
    """Arrival, departure, and where the departure ends: by their labels, else by two dates with a dash between."""
    dates = [(w.day(order), start, end) for w, start, end in find_dates(header)]
    arrival = departure = None
    place = 0
    for day, start, end in dates:
        label = _LABEL.search(header[max(0, start - 40) : start])
        if label and label["in"] and not arrival:
            arrival = day
        elif label and label["out"] and not departure:
            departure, place = day, end
    for (one, _, ends), (two, starts, after) in pairwise(dates):
        if not (arrival and departure) and one and two and one < two and _SPAN.match(header[ends:starts]):
            return one, two, after
    return arrival, departure, place


_AFTER_DATE = re.compile(r"[ ,|/]{0,3}(?:(?:at|um|a|alle|as|@)\s)?\s*(\S{1,8}(?: ?[ap]\.?m)?)")
_AFTER_LABEL = re.compile(
    rf"\b(?:{_OUT})(?: ?time|szeit)?\s*(?:at|um|:)?\s*(\d{{1,2}}[:h.]\d{{2}}[^\n]{{0,4}}|\d{{1,2}} ?[ap]m)"
)


def match_tier(text: str, chain: Chain) -> str | None:
    """The tier of the chain a free text names: Titanium Elite, lifetime platinum, Diamond Reserve."""
    plain = " ".join(re.findall(r"[a-z]+", fold(text)))
    lowest = chain.tiers[0]
    for tier in sorted(chain.tiers, key=len, reverse=True):
        if re.search(rf"\b{tier.replace('_', ' ')}\b", plain):
            return tier
    return lowest if re.fullmatch(r"(base |basic |general )?(member|none|no status|blue|red|club)?", plain) else None


def _find_tier(header: str, chain: Chain) -> str | None:
    """A tier the bill names next to a membership word or by itself; a colour inside a name is no tier."""
    for tier in sorted(chain.tiers[1:], key=len, reverse=True):
        word = tier.replace("_", "[ _]")
        alone = rf"(?:^|\s\s|[|;,])\s*(?:{_MEMBERSHIP})?\W*{word}\W*(?:elite|member|status)?\s*(?:$|\s\s|[|;,])"
        adjacent = rf"\b(?:{_MEMBERSHIP})\W+(?:[\w*]+\W+){{0,2}}{word}\b|\b{word}\W+(?:elite|member|status)\b"
        sure = rf"|\b{word}\b" if tier in ("globalist", "explorist", "discoverist") else ""
        if re.search(alone + "|" + adjacent + sure, header, re.MULTILINE):
            return tier
    return (
        chain.tiers[0]
        if re.search(r"(bonvoy|honors|hh|hyatt|rewards|member(ship)?)\s*(no|nr|number)?\.?\s*[#:]", header)
        else None
    )


_NUMBER = re.compile(r"(?:bonvoy|honors|hh|hyatt|rewards|member(?:ship)?)\s*(?:no|nr|number)?\.?\s*[#:]")


def _find_stay_type(bill: Bill, award_days: frozenset[date]) -> StayType:
    header = _NO_AWARD.sub(" ", bill.header)
    if _ADVANCE.search(header):
        return "points_advance"
    return "award" if award_days or _AWARD.search(header) else "cash"


def _has_paid_nights(bill: Bill, awards: frozenset[date], departure: date | None) -> bool:
    """Whether room is charged on a night without an award, while others have one."""
    days = {x.day for x in bill.lines if x.kind == "room" and x.amount > 0 and x.day}
    return bool(awards) and any(d not in awards and (departure is None or d < departure) for d in days)


def _count_booked_nights(header: str, arrival: date | None, departure: date | None) -> int | None:
    if arrival and departure and arrival < departure <= arrival + timedelta(days=200):
        return (departure - arrival).days
    return _find_number(header, _NIGHTS, _NIGHTS_AFTER)


def _is_in_us(bill: Bill) -> bool | None:
    if is_abroad(bill.currency, bill.country, bill.header, bill.european):
        return False
    return True if bill.currency == "USD" or bill.country else None


def read_stay(
    bill: Bill, chain: Chain, stay_type: StayType | None, tier: str | None, confirmation: str | None
) -> FolioStay:
    """Reads the stay; the caller's facts override the bill's. Unknown facts are None."""
    header = bill.header
    arrival, departure, place = _find_stay_dates(header, bill.order)
    awards = frozenset(x.day for x in bill.lines if x.kind == "points_redemption" and x.day)
    kind = stay_type or _find_stay_type(bill, awards)
    if kind == "award" and is_part_cash("\n".join((header, *(x.folded for x in bill.lines)))):
        kind, awards = "cash", frozenset()
    number = _CONFIRMATION.search(header)
    # The time printed right after the departure date, or after its own label.
    after = _AFTER_DATE.match(header, place, place + 24) if place else None
    after_date = first_time(after.group(1)) if after else None
    label = _AFTER_LABEL.search(header)
    checkout = after_date or (first_time(label.group(1)) if label else None)
    return FolioStay(
        chain=chain.chain,
        stay_type=kind,
        tier=tier or _find_tier(header, chain),
        guest_of_honor=_GUEST_OF_HONOR.search(header) is not None,
        arrival=arrival,
        departure=departure,
        left_at=checkout,
        nights=_count_booked_nights(header, arrival, departure),
        guests=_find_number(header, _GUESTS, _GUESTS_AFTER),
        rooms=_find_number(header, _ROOMS) or 1,
        in_us=_is_in_us(bill),
        award_days=awards,
        mixed=_has_paid_nights(bill, awards, departure),
        confirmation=confirmation or (number.group(1).upper() if number else None),
    )


def find_stay_type_on(stay: FolioStay, day: date | None) -> StayType:
    """How a day's night was paid: on a mixed stay, day by day; the day of departure belongs to the last night."""
    if not stay.mixed or stay.stay_type == "points_advance":
        return stay.stay_type
    if day is None:
        return "cash"
    if stay.departure and day >= stay.departure:
        day = stay.departure - timedelta(days=1)
    return "award" if day in stay.award_days else "cash"


def count_nights(bill: Bill, stay: FolioStay) -> int | None:
    """Nights of the stay; if the bill gives none, the days with a posted room or award."""
    days = {x.day for x in bill.lines if x.kind in ("room", "points_redemption") and x.day and not x.is_reversed}
    return stay.nights or len(days) or None


def find_deposits(header: str, words: re.Pattern[str]) -> list[Decimal]:
    """Deposits that a bill mentions as paid, with an amount."""
    deposits: list[Decimal] = []
    for sentence in re.split(r"[\n;|]", header):
        if (match := words.search(sentence)) and not _NO_DEPOSIT.search(sentence):
            amount = first_amount(sentence[match.start() :]) or first_amount(sentence)
            if amount:
                deposits.append(amount)
    return deposits


_NO_DEPOSIT = re.compile(
    r"refunded|released|not required|waived|no deposit|security|incidental|returned|erstattet|rembourse"
)
