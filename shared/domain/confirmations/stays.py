"""Hotel stays in the words of a confirmation: hotel, days, room type and the end of free cancellation."""

import itertools
import re

from shared.domain.confirmations import prices
from shared.domain.confirmations.cancellation_terms import find_free_until
from shared.domain.confirmations.confirmation_numbers import find_confirmation
from shared.domain.confirmations.forwarding import Text
from shared.domain.confirmations.hotel_names import find_hotel
from shared.domain.confirmations.mail_dates import MailDates
from shared.domain.confirmations.model import BookedStay, Doubt, TravelFacts
from shared.domain.confirmations.other_letters import is_of_parking_or_ship
from shared.domain.confirmations.room_types import find_room
from shared.domain.confirmations.stay_days import Span, find_other_spans, find_spans
from shared.domain.confirmations.stay_nights import list_nights
from shared.domain.parsing.text import fold

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
            own = _cut_flights(lines[span.first :])
            stay.free_cancellation_until = find_free_until(own, dates, span.arrives, span.leaves)
        if not any(_OF_FLIGHTS.search(fold(line)) or _FLIGHT_NUMBER.search(line) for line in block):
            _set_own_number(stay, block, world)
    return [stay for stay in stays if stay.hotel_name]


def _cut_flights(lines: list[str]) -> list[str]:
    """The lines up to the first that speaks of a flight or of the whole journey."""
    return list(itertools.takewhile(lambda line: not _OF_FLIGHTS.search(fold(line)), lines))


def _set_own_number(stay: BookedStay, block: list[str], world: TravelFacts) -> None:
    """The number and the price that stand in one paragraph with the days of the stay."""
    own = "\n".join(block)
    if number := find_confirmation(Text(own, "", "", False, None)):  # without one the price may be that of the journey
        stay.confirmation_number = number
        _set_own_price(stay, own, world)


def _read_spans(
    lines: list[str], spans: list[Span], around: tuple[str, str], dates: MailDates, world: TravelFacts
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
    """Where the block of a stay begins: at the last line above its days that is a title, else right at the start."""
    numbered = [at for at in range(start, end) if re.match(r"\W*\d{1,2}[.)]\s+\D", lines[at])]
    others = [at for at in range(start, end) if not _LABEL.match(lines[at]) and not _TERMS.search(fold(lines[at]))]
    titles = [at for at in others if not re.search(r"[.!?]\s*$", lines[at])]
    return (numbered or titles[-2:] or [start])[0]


def _read_stay(
    lines: list[str], block: tuple[int, int], span: Span, around: tuple[str, str], dates: MailDates, world: TravelFacts
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
        _check_nights(stay, own, (span.leaves - span.arrives).days)
    return stay


def _check_nights(stay: BookedStay, lines: list[str], nights: int) -> None:
    """The number of nights the letter names has to be that of its days."""
    stated = list_nights(lines)
    if stated and nights not in stated:
        reason = "The number of nights the letter names is not that of its days."
        days = f"{stay.check_in_date} to {stay.check_out_date}"
        stay.doubts.append(Doubt("check_out_date", reason, (*(f"{n} nights" for n in sorted(stated)), days)))
        stay.check_out_date = None


def _set_own_price(stay: BookedStay, block: str, world: TravelFacts) -> None:
    """The price of one of several stays, where its own lines name one."""
    price = prices.find_price(block, world)
    if price.points is not None and not (price.doubts or price.repeated or price.both):
        stay.original_points = price.points
    elif price.cash is not None and price.currency and not price.doubts:
        stay.cash_total, stay.cash_rate_currency = price.cash, price.currency
