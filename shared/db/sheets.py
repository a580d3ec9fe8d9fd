"""What a person keeps, a sheet for each kind: its columns, where its rows are, and the tool that adds one."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import InstrumentedAttribute, Session

from shared.db.balances import PointsBalance
from shared.db.bookings import FlightBooking, HotelStay
from shared.db.cards import Card
from shared.db.spending import SpendingStatement, SpendingTotal
from shared.db.statuses import LoyaltyStatus
from shared.db.trips import Trip
from shared.db.vouchers import Voucher
from shared.db.watches import list_limited_models
from shared.domain.sheets import write_csv

MAX_WRITTEN = 20_000  # rows of a sheet; no person has that many

Rows = Iterable[Mapping[str, Any]]


@dataclass(frozen=True)
class Sheet:
    """`columns` have the names of the arguments of `tool`, which adds a row; a sheet without one can only be exported.

    `key`: the natural key of a row. `aliases`: names of the columns in other lists.
    """

    title: str
    columns: tuple[str, ...]
    read: Callable[[Session], Rows]
    tool: str = ""
    key: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)


def write_sheet(session: Session, name: str) -> str:
    """The sheet as CSV, in a session that sees one account's rows."""
    sheet = SHEETS[name]
    return write_csv(sheet.columns, sheet.read(session))


def _read_model(
    model: Any, columns: Sequence[str], order: Sequence[InstrumentedAttribute[Any]], **attributes: tuple[str, ...]
) -> Callable[[Session], Rows]:
    """`attributes`: those of a column of another name; the first with a value counts."""

    def read_cell(row: Any, column: str) -> Any:
        values = [getattr(row, name) for name in attributes.get(column, (column,))]
        return next((value for value in values if value not in (None, "")), None)

    def read(session: Session) -> Rows:
        rows = session.scalars(select(model).order_by(*order).limit(MAX_WRITTEN))
        return ({column: read_cell(row, column) for column in columns} for row in rows)

    return read


def _read_watches(session: Session) -> Rows:
    for model in list_limited_models():
        for row in session.scalars(select(model).order_by(model.id).limit(MAX_WRITTEN)):
            kind = model.KIND.name.replace("_", " ")
            yield {"kind": kind, "title": row.title, "on": row.is_on, "ended": row.has_ended}


def _read_spending(session: Session) -> Rows:
    columns = (
        SpendingTotal.month,
        SpendingTotal.category,
        SpendingTotal.amount,
        SpendingTotal.refunds,
        SpendingStatement.currency,
        SpendingStatement.label,
        Card.name.label("card"),
    )
    rows = (
        select(*columns)
        .join(SpendingStatement, SpendingTotal.statement_id == SpendingStatement.id)
        .outerjoin(Card, SpendingStatement.card_id == Card.id)
        .order_by(SpendingTotal.month, SpendingTotal.category, SpendingStatement.id)
    )
    return [dict(row) for row in session.execute(rows.limit(MAX_WRITTEN)).mappings()]


_BALANCES = ("program", "member", "balance", "expires_on", "as_of", "cents_per_point", "notes")
_BONUS = ("bonus_amount", "bonus_currency", "bonus_status", "bonus_earned_on", "spend_requirement", "spend_deadline_on")
_CARD = ("nickname", "member", "opened_on", "closed_on", "annual_fee", "currency", "country", *_BONUS, "notes")
_CARDS = ("card", *_CARD)
_FLIGHTS = (
    *("airline", "flight_number", "origin", "destination", "departure_date", "departure_time", "arrival_date"),
    *("arrival_time", "return_date", "cabin_class", "kind", "program", "points_spent", "cash_paid", "cash_price"),
    *("taxes_paid", "taxes_currency", "passengers", "confirmation_number", "member", "notes"),
)
_STAY = (
    *("check_in_date", "check_out_date", "kind", "original_points", "original_pay_rate_usd", "cash_rate_currency"),
    *("room_type", "rate_plan", "confirmation_number", "member", "notes"),
    *("booked", "max_points_per_night", "max_cash_per_night"),
)
_STAYS = ("hotel_id", *_STAY)
_STATUSES = (
    *("program", "tier", "member", "valid_until", "lifetime", "target_tier", "progress", "progress_as_of", "notes"),
)
_VOUCHERS = ("voucher_slug", "expires_on", "reference", "notes")
_TRIPS = ("name", "destination", "start_date", "end_date", "archived_at")
_PROGRAM = {"programme": "program", "name": "program", "loyalty_program": "program", "account": "program"}
_OWNER = {"owner": "member", "person": "member", "who": "member"}

SHEETS: Mapping[str, Sheet] = {
    "balances": Sheet(
        "Balances",
        _BALANCES,
        _read_model(
            PointsBalance, _BALANCES, (PointsBalance.program, PointsBalance.member), cents_per_point=("own_cents",)
        ),
        "update_points_balance",
        ("program", "member", "balance"),
        _PROGRAM | _OWNER | dict.fromkeys(("points", "miles", "amount"), "balance") | {"expiration": "expires_on"},
    ),
    "cards": Sheet(
        "Cards",
        _CARDS,
        _read_model(Card, _CARDS, (Card.id,), card=("slug", "name")),
        "add_card",
        ("card", "member", "opened_on"),
        _OWNER | {"name": "card", "opened": "opened_on", "closed": "closed_on", "fee": "annual_fee"},
    ),
    "flights": Sheet(
        "Flights",
        _FLIGHTS,
        _read_model(FlightBooking, _FLIGHTS, (FlightBooking.departure_date, FlightBooking.id)),
        "add_flight_booking",
        ("airline", "origin", "destination", "departure_date", "member"),
        _OWNER | {"from": "origin", "to": "destination", "date": "departure_date", "cabin": "cabin_class"},
    ),
    "stays": Sheet(
        "Hotel stays",
        _STAYS,
        _read_model(
            HotelStay,
            _STAYS,
            (HotelStay.check_in_date, HotelStay.id),
            hotel_id=("hotel_code", "hotel_name"),
        ),
        "add_hotel_booking",
        ("hotel_id", "check_in_date", "check_out_date", "member", "booked"),
        _OWNER | {"hotel": "hotel_id", "check_in": "check_in_date", "check_out": "check_out_date"},
    ),
    "statuses": Sheet(
        "Statuses",
        _STATUSES,
        _read_model(LoyaltyStatus, _STATUSES, (LoyaltyStatus.program, LoyaltyStatus.member)),
        "set_loyalty_status",
        ("program", "member", "tier"),
        _PROGRAM | _OWNER | {"status": "tier", "expires_on": "valid_until"},
    ),
    "vouchers": Sheet(
        "Vouchers",
        _VOUCHERS,
        _read_model(Voucher, _VOUCHERS, (Voucher.id,)),
        "add_voucher",
        ("voucher_slug", "reference", "expires_on"),
        {"voucher": "voucher_slug", "certificate": "voucher_slug", "name": "voucher_slug", "code": "reference"},
    ),
    "trips": Sheet("Trips", _TRIPS, _read_model(Trip, _TRIPS, (Trip.start_date, Trip.id))),
    "watches": Sheet("Watches", ("kind", "title", "on", "ended"), _read_watches),
    "spending": Sheet(
        "Spending", ("month", "category", "amount", "refunds", "currency", "label", "card"), _read_spending
    ),
}
ADDED = tuple(name for name, sheet in SHEETS.items() if sheet.tool)
