"""What a letter says was paid, put on its bookings: one reservation bears it whole, several each their own."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from shared.domain.confirmations.model import BookedLeg, BookedStay, Booking, Doubt, MailPrice, TravelFacts

# What a sign that several currencies share stands for on letters of a country's airlines and hotels. Not listed are
# the other countries with a dollar: their airlines also sell in US dollars.
_HOME_CURRENCIES = {"US": "USD", "JP": "JPY", "CN": "CNY"}
_OTHER_DOLLARS = frozenset({"CA", "AU", "NZ", "SG", "HK", "MX", "TW", "AR", "CL", "CO", "FJ"})
# What a stay for points costs besides is a fee of the house; more than this for each point is a price.
_MOST_FEES_PER_POINT = Decimal("0.003")
_UNCLEAR_SIGN = "The sign of the amount stands for several currencies."
_NO_POINTS = "The letter speaks of an award and names no points."
_OF_ONE_TICKET = "The price of a ticket may be that of one traveller or of all."
_OF_EXTRA = Doubt("kind", "The letter names the price of an extra and none of the flight.")
_FOR_ALL = "The letter names one price for several bookings."


def set_prices(bookings: list[Booking], price: MailPrice, sender: str, world: TravelFacts) -> list[Booking]:
    """The bookings with what was paid: one reservation bears the mail's price, several only what each says itself.

    `kind` stays None where no price was read.
    """
    groups: dict[object, list[Booking]] = {}
    for b in bookings:
        groups.setdefault((b.type, b.confirmation_number), []).append(b)
    for group in groups.values():
        legs = [b for b in group if isinstance(b, BookedLeg) and b.action == "create"]
        stays = [b for b in group if isinstance(b, BookedStay) and b.action != "cancel"]
        if legs:
            _set_flight_price(legs, price, len(groups) == 1, sender, world)
        for stay in stays:
            if len(groups) > 1:
                _set_package_price(stay, price)
            else:
                _set_stay_price(stay, price, len(stays) == 1, world)
    return bookings


def _set_flight_price(legs: list[BookedLeg], price: MailPrice, alone: bool, sender: str, world: TravelFacts) -> None:
    own = {(leg.cash_paid, leg.taxes_currency) for leg in legs if leg.cash_paid is not None}
    for leg in legs:
        leg.cash_paid, leg.taxes_currency, leg.kind = None, None, None
    stated: Any = own.pop() if len(own) == 1 else (None, None)
    head = legs[0]
    if price.of_extra:
        head.doubts.append(_OF_EXTRA)
        return
    points = _find_points_of_legs(legs, price) if alone else None
    if points is not None:
        _set_award(legs, points, price, stated, sender, world)
    elif alone:
        _set_cash(legs, price, stated, world)
    elif not price.award and price.points is None and (stated[0] is not None or price.cash is not None):
        for at, leg in enumerate(legs):
            leg.kind, leg.program = "cash", None
            leg.cash_paid = None if stated[0] is None else stated[0] * (0 if at else 1)
            leg.taxes_currency = stated[1]
    if alone:
        head.doubts += [_name_field(d, "cash_paid") for d in price.doubts if d not in head.doubts]


def _name_field(doubt: Doubt, money: str) -> Doubt:
    return Doubt(money, doubt.reason, doubt.values) if doubt.field == "cash" else doubt


def _find_points_of_legs(legs: Sequence[BookedLeg], price: MailPrice) -> int | None:
    """The points of all legs and travellers together."""
    if price.points is not None:
        if price.repeated and len(legs) > 1:
            values = (price.points, price.points * len(legs))
            legs[0].doubts.append(Doubt("points_spent", "The points may be of each flight or of all.", values))
            return None
        return price.points
    if len(price.per_person) == 1:
        if legs[0].passengers == 1:
            return price.per_person[0]
        legs[0].doubts.append(
            Doubt("points_spent", "The letter names the points of one person.", (price.per_person[0],))
        )
    return None


def _set_award(
    legs: Sequence[BookedLeg], points: int, price: MailPrice, stated: Any, sender: str, world: TravelFacts
) -> None:
    taxes, currencies = price.taxes, price.tax_currencies
    if stated[0] is not None and taxes is None:
        taxes, currencies = stated[0], tuple(c for c in (stated[1],) if c)
    currency = _settle_currency(legs[0], currencies, world) if taxes is not None else None
    if taxes is not None and stated[0] is not None and (taxes, currency) != stated:
        values = (_format(taxes, currency), _format(*stated))
        legs[0].doubts.append(Doubt("taxes_paid", "The letter names two amounts of money.", values))
        taxes = None
    for at, leg in enumerate(legs):
        leg.kind = "award"
        leg.program = leg.program or _find_program(price, leg.airline, sender, world)
        leg.points_spent = 0 if at else points
        leg.taxes_paid = None if taxes is None else taxes * (0 if at else 1)
        leg.taxes_currency = currency


def _set_cash(legs: Sequence[BookedLeg], price: MailPrice, stated: Any, world: TravelFacts) -> None:
    cash, currencies = price.cash, price.currencies
    if price.award:
        legs[0].doubts += [Doubt("kind", _NO_POINTS)] if price.points is None and not price.per_person else []
        return
    if price.of_ticket and stated[0] is None and legs[0].passengers != 1 and cash is not None:
        legs[0].doubts.append(Doubt("cash_paid", _OF_ONE_TICKET, (_format(cash, price.currency),)))
    if stated[0] is not None:
        currency = _settle_currency(legs[0], currencies, world) if cash is not None and cash != stated[0] else stated[1]
        if cash is not None and (cash, currency) != stated:
            values = (_format(cash, currency), _format(*stated))
            legs[0].doubts.append(Doubt("cash_paid", "The letter names two totals.", values))
        cash, currencies = stated[0], tuple(c for c in (stated[1],) if c)
    disputed = any(d.field in ("cash_paid", "cash") for d in [*legs[0].doubts, *price.doubts])
    if (cash is None and not disputed) or any(
        d.field in ("kind", "points_spent") for d in [*legs[0].doubts, *price.doubts]
    ):
        return
    currency = None if cash is None or disputed else _settle_currency(legs[0], currencies, world)
    for at, leg in enumerate(legs):
        leg.kind, leg.program, leg.taxes_currency = "cash", None, currency
        leg.cash_paid = None if cash is None or disputed else cash * (0 if at else 1)


def _settle_currency(booking: BookedLeg | BookedStay, currencies: Sequence[str], world: TravelFacts) -> str | None:
    """The currency of an amount; where its sign has several meanings, that of the airline's or hotel's country."""
    if len(currencies) <= 1:
        return next(iter(currencies), None)
    if isinstance(booking, BookedStay):
        home = world.country_of_hotel(booking.hotel_id) if booking.hotel_id else None
    else:
        home = world.country_of_airline(booking.airline or "")
        start = world.country_of_airport(booking.origin or "")
        home = None if home == "US" and start in _OTHER_DOLLARS else home
    currency = _HOME_CURRENCIES.get(home or "")
    if currency in currencies:
        return currency
    name = "cash_rate_currency" if isinstance(booking, BookedStay) else "taxes_currency"
    booking.doubts.append(Doubt(name, _UNCLEAR_SIGN, tuple(currencies[:4])))
    return None


def _format(value: Decimal, currency: str | None) -> str:
    return f"{value:,.2f} {currency or ''}".strip()


def _find_program(price: MailPrice, airline: str | None, sender: str, world: TravelFacts) -> str | None:
    """The programme the points are of: as named with them, else the sender's if it is the airline's own."""
    if price.program:
        return price.program
    if price.outside:
        return None
    own = world.program_of(airline) if airline else None
    writer = world.airline(sender) or world.by_icao(sender.strip()[:3] if len(sender.strip()) == 3 else "")
    if own and world.program_of(writer or "") == own:
        return own
    # An airline whose programme is not known may have one of the sender's name: "Smiles" is not Miles&Smiles.
    return world.program(sender) if own or writer else None


def _set_package_price(stay: BookedStay, price: MailPrice) -> None:
    """The price of flights and stays together is no one's own; that it is paid in money is known of all."""
    if stay.original_points is not None:
        stay.kind = "award"
        return
    in_money = stay.cash_total is not None or price.cash is not None
    stay.kind = "cash" if in_money and not price.award and price.points is None else None


def _set_stay_price(stay: BookedStay, price: MailPrice, alone: bool, world: TravelFacts) -> None:
    own, own_currency = stay.cash_total, stay.cash_rate_currency
    if not alone and stay.original_points is not None:
        stay.kind = "award"
        return
    stay.kind = stay.cash_total = stay.cash_rate_currency = None
    points = _find_points_of_stay(stay, price) if alone else None
    if not alone and (price.points is not None or price.cash is not None or price.nightly_points):
        stay.doubts += [] if own is not None else [Doubt("kind", _FOR_ALL)]
    if alone:
        stay.doubts += [_name_field(d, "cash_total") for d in price.doubts if d not in stay.doubts]
    if points is not None:
        _set_award_stay(stay, points, price, own, world)
    elif own is not None or (alone and not price.award and not _is_disputed(stay)):
        _set_cash_stay(stay, price if alone else MailPrice(), own, own_currency, world)
    elif alone and price.award and not _is_disputed(stay):
        stay.doubts.append(Doubt("kind", _NO_POINTS))


def _is_disputed(stay: BookedStay) -> bool:
    return any(d.field in ("kind", "original_points") for d in stay.doubts)


def _find_points_of_stay(stay: BookedStay, price: MailPrice) -> int | None:
    """The total, or the sum over the nights where all nights are there."""
    nights = (stay.check_out_date - stay.check_in_date).days if stay.check_in_date and stay.check_out_date else None
    whole = sum(price.nightly_points) if nights == len(price.nightly_points) else None
    if price.points is None:
        if price.nightly_points and whole is None:
            values = tuple(dict.fromkeys(price.nightly_points))
            stay.doubts.append(Doubt("original_points", "The letter names points of nights and no total.", values))
        return whole
    one_night = nights != 1 and (price.repeated or price.points in price.nightly_points)
    if one_night:
        values = tuple(v for v in (price.points, whole or (price.points * nights if nights else None)) if v)
        stay.doubts.append(Doubt("original_points", "The points may be of one night or of the whole stay.", values))
        return None
    return price.points


def _set_award_stay(stay: BookedStay, points: int, price: MailPrice, own: Decimal | None, world: TravelFacts) -> None:
    """An award; with its part in money where it is paid in both."""
    money = own or (None if price.taxes is not None and price.taxes != price.cash else price.cash)
    if money and not price.both and money / points > _MOST_FEES_PER_POINT:
        values = (f"{points:,} points", _format(money, price.currency))
        stay.doubts.append(Doubt("kind", "The letter names points and a price in money.", values))
        return
    stay.kind, stay.original_points = "award", points
    money = price.taxes if price.taxes is not None else price.cash
    if price.both and money is not None:
        currencies = price.tax_currencies if price.taxes is not None else price.currencies
        stay.cash_rate_currency = _settle_currency(stay, currencies, world)
        stay.cash_total = money


def _set_cash_stay(
    stay: BookedStay, price: MailPrice, own: Decimal | None, own_currency: str | None, world: TravelFacts
) -> None:
    cash, currencies = price.cash, price.currencies
    if own is not None and cash is not None and cash != own:
        values = (_format(own, own_currency), _format(cash, price.currency))
        stay.doubts.append(Doubt("cash_total", "The letter names two totals.", values))
    disputed = any(d.field == "cash_total" for d in stay.doubts)
    if own is None and cash is None and not disputed:
        return
    stay.kind = "cash"
    if disputed:
        return
    stay.cash_total = own if own is not None else cash
    stay.cash_rate_currency = own_currency if own is not None else _settle_currency(stay, currencies, world)
