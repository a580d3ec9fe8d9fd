"""What a letter says was paid, put on its bookings: one reservation bears it whole, several each their own."""

from shared.domain.confirmations.model import BookedLeg, BookedStay, Booking, MailPrice, TravelFacts


def set_prices(bookings: list[Booking], price: MailPrice, sender: str, world: TravelFacts) -> list[Booking]:
    """The bookings with what was paid: one reservation bears the mail's price, several only what each says itself."""
    groups: dict[object, list[Booking]] = {}
    for b in bookings:
        groups.setdefault((b.type, b.confirmation_number), []).append(b)
    for group in groups.values():
        if group[0].action == "create":
            (_set_flight_price if isinstance(group[0], BookedLeg) else _set_stay_price)(
                group, price, len(groups) == 1, sender, world
            )
    return bookings


def _set_flight_price(group: list[Booking], price: MailPrice, alone: bool, sender: str, world: TravelFacts) -> None:
    legs = [b for b in group if isinstance(b, BookedLeg)]
    own = {(leg.cash_paid, leg.taxes_currency) for leg in legs if leg.cash_paid is not None}
    award = (alone and price.points is not None) or price.award
    cash, currency = (price.cash, price.currency) if alone and not own else (None, None)
    if len(own) == 1:
        cash, currency = own.pop()
    taxes = (price.taxes, price.taxes_currency) if price.taxes is not None else (cash, currency)
    for at, leg in enumerate(legs):
        leg.kind = "award" if award else "cash"
        leg.passengers = leg.passengers or None
        if len(own) > 1 and not award:
            continue
        leg.cash_paid = None
        if award:
            leg.program = leg.program or _find_program(price, leg.airline, sender, world)
            leg.points_spent = None if not alone or price.points is None else 0 if at else price.points
            leg.taxes_paid = None if not alone or taxes[0] is None else taxes[0] * (0 if at else 1)
            leg.taxes_currency = taxes[1] if alone else None
        else:
            leg.program = None
            leg.cash_paid = None if cash is None else cash * (0 if at else 1)
            leg.taxes_currency = currency


def _find_program(price: MailPrice, airline: str | None, sender: str, world: TravelFacts) -> str | None:
    """The programme the points are of: as named with them, else the sender's if it is the airline's own."""
    own = world.program_of(airline) if airline else None
    if price.program:
        return price.program
    return own if own and world.program_of(world.airline(sender) or "") == own else None


def _set_stay_price(group: list[Booking], price: MailPrice, alone: bool, _sender: str, _world: TravelFacts) -> None:
    for stay in (b for b in group if isinstance(b, BookedStay)):
        award = stay.cash_total is None and (price.award or (alone and price.points is not None))
        stay.kind = "award" if award else "cash"
        if award:
            stay.original_points = price.points if alone else None
        elif stay.cash_total is None and alone and price.cash is not None:
            stay.cash_total, stay.cash_rate_currency = price.cash, price.currency
