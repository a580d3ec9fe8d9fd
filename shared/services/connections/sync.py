"""Synchronising a connection: the provider is read and written first, then our rows change in one transaction.

One at a time per connection; a `dry_run` does the same and undoes everything.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

import anyio
from sqlalchemy import select
from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import lock
from shared.db.balances import PointsBalance, select_holder_balances
from shared.db.base import transaction
from shared.db.bookings import FlightBooking, HotelBooking
from shared.db.connections import Connection
from shared.db.members import HOLDER
from shared.db.statuses import LoyaltyStatus
from shared.errors import (
    BackendUnavailable,
    Busy,
    Candidates,
    ConnectionRequired,
    Invalid,
    LimitReached,
    NotFound,
    Outage,
)
from shared.limits import hit
from shared.providers.connectors import COLUMNS, Connector, Pulled, Push, Row, Stay, TrackedAccount, Written, connector
from shared.providers.contract import Unanswered
from shared.reference import hotels, statuses
from shared.reference.load import reference
from shared.reference.reference import Reference
from shared.services.bookings import bookings
from shared.services.bookings.bookings import flight_state, stay_state
from shared.services.connections.credentials import (
    classify_error,
    find_connection,
    get_credential,
    reject_token,
    run_in_thread,
)
from shared.services.connections.sync_report import SyncReport
from shared.services.own_programs import add_own_programs

# Balances and statuses from a points tracker, unless the account's own are newer.

_ASIDE = re.compile(r"\(.*?\)|\[.*?\]")
# The tracker's own short names, if the long one is not enough.
_CODES = {
    "aa": "american-airlines-aadvantage",
    "british": "british-airways-club",
    "hhonors": "hilton-honors",
    "goldpassport": "world-of-hyatt",
}


def find_program(reference: Reference, account: TrackedAccount) -> str | None:
    if account.code in _CODES:
        return _CODES[account.code]
    for name in (account.name, _ASIDE.sub(" ", account.name).strip()):
        if len(programs := reference.find_programs(name)) == 1:
            return programs[0]
    return None


def apply_points(
    session: Session, reference: Reference, account_id: int, source: str, accounts: tuple[TrackedAccount, ...]
) -> SyncReport:
    """Saves within the session's transaction; returns which programmes changed, and what did not and why."""
    report, slugs = SyncReport(), set[str]()
    lock(session, account_id)
    balances = {row.program: row for row in session.scalars(select_holder_balances().with_for_update())}
    own = select(LoyaltyStatus).where(LoyaltyStatus.member == HOLDER)
    statuses = {row.program: row for row in session.scalars(own.with_for_update())}
    for account in accounts:
        slug = find_program(reference, account)
        if slug is None:
            report.conflict("balance", account.code or "unnamed", "unknown_program")
        elif slug in slugs:
            report.conflict("balance", slug, "several_accounts")
        elif account.stale:
            report.conflict("balance", slug, "not_checked_lately")
        else:
            _sync_balance(session, report, source, slug, account, balances.get(slug))
            _sync_status(session, reference, report, source, slug, account, statuses.get(slug))
        if slug is not None:
            slugs.add(slug)
    session.flush()
    return report


def _is_newer_here(row: PointsBalance | LoyaltyStatus, checked_at: datetime | None) -> bool:
    """Whether the person's value is newer than the tracker's, which must not overwrite it."""
    return row.source == "manual" and (checked_at is None or row.updated_at > checked_at)


def _sync_balance(
    session: Session, report: SyncReport, source: str, slug: str, account: TrackedAccount, row: PointsBalance | None
) -> None:
    if account.balance is None:
        return
    report.balances += 1
    values: dict[str, Any] = {"balance": account.balance}
    if account.expires_on is not None or row is None:
        values["expires_on"] = account.expires_on
    before = None if row is None else {name: getattr(row, name) for name in values}
    if before == values:
        return
    if row is not None and _is_newer_here(row, account.checked_at):
        report.conflict("balance", slug, "newer_here")
        return
    if row is None:
        row = PointsBalance(program=slug, balance=account.balance, as_of=clock.today(), source=source)
        session.add(row)
    for name, value in values.items():
        setattr(row, name, value)
    row.as_of = account.checked_at.date() if account.checked_at else clock.today()
    row.source, row.updated_at = source, clock.now()
    report.change("balance", slug, before, values)


def _sync_status(
    session: Session,
    reference: Reference,
    report: SyncReport,
    source: str,
    slug: str,
    account: TrackedAccount,
    row: LoyaltyStatus | None,
) -> None:
    if account.tier is None or reference.programs[slug].kind == "bank":
        return
    report.statuses += 1
    try:
        tier = statuses.match_tier(reference, slug, account.tier)
    except Candidates:
        report.conflict("status", slug, "unknown_tier")
        return
    if row is not None and row.tier == tier:
        return
    if row is not None and _is_newer_here(row, account.checked_at):
        report.conflict("status", slug, "newer_here")
        return
    before = None if row is None else {"tier": row.tier}
    if row is None:
        row = LoyaltyStatus(program=slug, tier=tier, source=source)
        session.add(row)
    elif row.tier != tier:
        row.valid_until = None  # it belonged to the earlier tier
    row.tier, row.source, row.updated_at = tier, source, clock.now()
    report.change("status", slug, before, {"tier": tier})


# Rows that are exported to a provider: one for each balance, flight and stay of an account.

MAX_ROWS = 2000  # of each kind, the latest


def build_rows(session: Session, reference: Reference, now: datetime) -> tuple[Row, ...]:
    balances = session.scalars(select(PointsBalance).order_by(PointsBalance.program, PointsBalance.member)).all()
    reference = add_own_programs(session, reference, [row.program for row in balances])
    newest = (
        select(FlightBooking).order_by(FlightBooking.departure_date.desc(), FlightBooking.id.desc()).limit(MAX_ROWS)
    )
    latest = select(HotelBooking).order_by(HotelBooking.check_in_date.desc(), HotelBooking.id.desc()).limit(MAX_ROWS)
    flights, stays = list(session.scalars(newest)), list(session.scalars(latest))
    return (
        *(_build_balance_row(reference, row) for row in balances),
        *(_build_row("flight", row.id, row, state=flight_state(reference, row, now)) for row in reversed(flights)),
        *(_build_row("hotel", row.id, row, state=stay_state(reference, row, now)) for row in reversed(stays)),
    )


def _to_plain(values: dict[str, Any]) -> dict[str, Any]:
    """Days and times as text, money as a number."""
    plain: dict[str, Any] = {}
    for name, value in values.items():
        if value is None or isinstance(value, str | int):
            plain[name] = value
        elif hasattr(value, "isoformat"):
            plain[name] = value.isoformat()
        else:
            plain[name] = float(value)
    return plain


# Columns whose value has another name in our tables.
_OUR_NAMES = {
    "balance": {"state": "source"},
    "flight": {
        "cabin": "cabin_class",
        "paid_with": "kind",
        "points": "points_spent",
        "cash": "cash_paid",
        "currency": "taxes_currency",
    },
    "hotel": {
        "hotel": "hotel_name",
        "check_in": "check_in_date",
        "check_out": "check_out_date",
        "room": "room_type",
        "paid_with": "kind",
        "points": "original_points",
        "cash": "original_pay_rate_usd",
        "currency": "cash_rate_currency",
    },
}


def _build_row(kind: Literal["balance", "flight", "hotel"], key: object, row: Any, **computed: Any) -> Row:
    """`computed` are columns that the stored row does not have."""
    stored = {name: _OUR_NAMES[kind].get(name, name) for name in COLUMNS[kind] if name not in computed}
    values = {name: getattr(row, stored[name]) if name in stored else computed[name] for name in COLUMNS[kind]}
    return Row(kind, f"{kind}:{key}", _to_plain(values | computed))


def _build_balance_row(reference: Reference, row: PointsBalance) -> Row:
    program = reference.programs.get(row.program)
    name = program.name if program else row.program
    if row.member:
        return _build_row("balance", f"{row.program}:{row.member}", row, name=name, member=row.member)
    return _build_row("balance", row.program, row, name=name)


# Bookings from a trip organiser: added, completed, and updated when they change there.
#
# A booking changed here since the last time is not touched; one cancelled here stays so; none is ever deleted.

Booking = FlightBooking | HotelBooking
CABIN_UNKNOWN = "The cabin was not stated; economy is assumed."


def apply(session: Session, reference: Reference, pulled: Pulled, last: datetime | None, *, whole: bool) -> SyncReport:
    """Within the session's transaction. `whole`: bookings missing in `pulled` are gone there, and reported."""
    report = SyncReport(trips=pulled.trips, bookings=len(pulled.legs) + len(pulled.stays))
    flights: list[Booking] = list(session.scalars(select(FlightBooking).with_for_update()))
    stays: list[Booking] = list(session.scalars(select(HotelBooking).with_for_update()))
    filing = _Filing(session, reference, report, last)
    for leg in pulled.legs:
        stated = {name: value for name, value in asdict(leg).items() if name != "ref" and value is not None}
        terms = {"cabin_class" if name == "cabin" else name: value for name, value in stated.items()}
        filing.file("flight_booking", flights, leg.ref, terms)
    for stay in pulled.stays:
        filing.file_stay(stays, stay)
    if whole:
        refs = [leg.ref for leg in pulled.legs] + [stay.ref for stay in pulled.stays]
        _report_missing(report, reference, [*flights, *stays], refs)
    session.flush()
    return report


@dataclass(frozen=True)
class _Filing:
    """Files the organiser's bookings among ours; `last` is when this was done before."""

    session: Session
    reference: Reference
    report: SyncReport
    last: datetime | None

    def file_stay(self, rows: list[Booking], stay: Stay) -> None:
        try:
            hotel = hotels.code(hotels.find_hotel(self.reference, stay.hotel))
        except (NotFound, Candidates) as unsure:
            reason = "unknown_hotel" if isinstance(unsure, NotFound) else "several_hotels"
            self.report.conflict("hotel_booking", stay.ref, reason)
            return
        terms: dict[str, Any] = {"hotel_code": hotel, "check_in_date": stay.check_in, "check_out_date": stay.check_out}
        if stay.confirmation_number:
            terms["confirmation_number"] = stay.confirmation_number
        self.file("hotel_booking", rows, stay.ref, terms)

    def file(self, kind: str, rows: list[Booking], ref: str, terms: Mapping[str, Any]) -> None:
        """Adds it to `rows`, or updates the one that it is."""
        row = next((r for r in rows if r.external_ref == ref), None) or _find_same(rows, terms)
        if row is not None and row.cancelled_at:
            return
        try:
            if row is None:
                row = _build_booking(self.reference, kind, terms)
                row.external_ref = ref
                self.session.add(row)
                self.session.flush()
                rows.append(row)
                self.report.change(kind, ref, None, terms)
            elif not self._update(kind, row, ref, terms):
                return
        except (Invalid, NotFound, Candidates):
            self.report.conflict(kind, ref, "not_accepted")
            return
        if isinstance(row, HotelBooking):
            bookings.schedule_price_check(self.session, self.reference, row)

    def _update(self, kind: str, row: Booking, ref: str, terms: Mapping[str, Any]) -> bool:
        """Updates it; whether anything changed. A new match is completed; later it follows the organiser."""
        adopted = row.external_ref is None
        values = bookings.flight_names(self.reference, terms) if isinstance(row, FlightBooking) else dict(terms)
        new = {n: v for n, v in values.items() if getattr(row, n) != v and (not adopted or getattr(row, n) is None)}
        if not new:
            row.external_ref = ref
            return False
        if not adopted and self.last is not None and row.updated_at > self.last:
            self.report.conflict(kind, row.id, "changed_here")
            return False
        before = {name: getattr(row, name) for name in new}
        _check_terms(self.reference, row, new)
        for name, value in new.items():
            setattr(row, name, value)
        row.external_ref, row.updated_at = ref, clock.now()
        if isinstance(row, HotelBooking) and new.keys() & set(_IDENTITY):
            bookings.compare_afresh(row, clock.now())
            if (hotel := hotels.find_stored(self.reference, row.hotel_code)) is not None:
                row.hotel_name = hotel.name
        self.report.change(kind, row.id, before, new)
        return True


def _build_booking(reference: Reference, kind: str, terms: Mapping[str, Any]) -> Booking:
    """Builds a booking of the default kind, without an amount, as the payment is unknown."""
    if kind == "hotel_booking":
        rest = {name: value for name, value in terms.items() if name != "hotel_code"}
        return bookings.build_stay(reference, terms["hotel_code"], rest, unpriced=True)
    assumed = {} if "cabin_class" in terms else {"cabin_class": "economy", "notes": CABIN_UNKNOWN}
    return bookings.leg(reference, {**assumed, **terms}, unpriced=True)


_IDENTITY = ("airline", "origin", "destination", "departure_date", "hotel_code", "check_in_date", "check_out_date")


def _find_same(rows: Sequence[Booking], terms: Mapping[str, Any]) -> Booking | None:
    """Finds the reservation from another source: same route and day, or hotel and days, and no different number."""
    number = str(terms.get("confirmation_number", "")).upper()
    for row in rows:
        theirs = (row.confirmation_number or "").upper()
        fits = all(getattr(row, name) == terms[name] for name in _IDENTITY if name in terms)
        if fits and row.external_ref is None and (not number or not theirs or number == theirs):
            return row
    return None


def _check_terms(reference: Reference, row: Booking, new: Mapping[str, Any]) -> None:
    """Raises Invalid before anything is written."""
    terms = {c.key: getattr(row, c.key) for c in row.__mapper__.column_attrs} | dict(new)
    if isinstance(row, FlightBooking):
        bookings.check_flight(reference, terms, unpriced=True)
        bookings.check_times(reference, terms)
    else:
        bookings.check_stay(terms, unpriced=True)


def _report_missing(report: SyncReport, reference: Reference, rows: Sequence[Booking], refs: Sequence[str]) -> None:
    there, now = set(refs), clock.now()
    for row in rows:
        if row.external_ref is None or row.external_ref in there or not row.external_ref.startswith("tripit:"):
            continue
        flight = isinstance(row, FlightBooking)
        state = flight_state(reference, row, now) if isinstance(row, FlightBooking) else stay_state(reference, row, now)
        if state == "upcoming":
            report.conflict("flight_booking" if flight else "hotel_booking", row.id, "gone_there")


EXCHANGE_SECONDS = 25.0
LEASE = timedelta(seconds=EXCHANGE_SECONDS + 20)
HOUR_SECONDS, MAX_SYNCS_PER_HOUR = 3600, 12  # how often one connection may be synchronised


@dataclass
class SyncResult:
    report: SyncReport
    synced_at: datetime


def require_configured(provider: str) -> Connector:
    card = connector(provider)
    if not card.configured():
        message = f"{card.title} is not set up by the operator of this service, so it cannot be connected."
        raise BackendUnavailable(message, [Outage(provider, "not_configured")])
    return card


async def sync(account_id: int, provider: str, *, dry_run: bool) -> SyncResult:
    """Raises ConnectionRequired, LimitReached or BackendUnavailable; then nothing of ours has changed."""
    card = require_configured(provider)
    details = await run_in_thread(_take_lease, account_id, provider)
    try:
        pulled, written = await _exchange_in_time(account_id, provider, card, details, dry_run=dry_run)
        done = await run_in_thread(_apply, account_id, provider, pulled, written, dry_run)
    finally:
        with anyio.CancelScope(shield=True):
            await run_in_thread(_end_lease, account_id, provider)
    if written is not None and written.failed:
        message = (
            f"{card.title} stopped answering midway. What arrived is remembered; the next time continues from there."
        )
        raise BackendUnavailable(message, [Outage(provider, "down")])
    return done


async def _exchange_in_time(
    account_id: int, provider: str, card: Connector, details: dict[str, Any], *, dry_run: bool
) -> tuple[Pulled, Written | None]:
    """Makes all calls to the provider within the time limit. Raises ConnectionRequired or BackendUnavailable."""
    try:
        with anyio.fail_after(EXCHANGE_SECONDS):
            return await _exchange(account_id, provider, card, details, dry_run=dry_run)
    except (Busy, ConnectionRequired):
        raise
    except Exception as error:  # the edge to other people's servers
        raise await _unavailable(account_id, provider, card, classify_error(error)) from error


async def _exchange(
    account_id: int, provider: str, card: Connector, details: dict[str, Any], *, dry_run: bool
) -> tuple[Pulled, Written | None]:
    """Reads from and writes to the provider; retries once with a new token after a refusal."""
    for last in (False, True):
        credential = await get_credential(account_id, provider)
        if credential is None:
            raise _not_connected(provider, card)
        try:
            pulled = await card.pull(credential, details) if card.pull else Pulled()
            written = None
            if card.push:
                ours = await run_in_thread(_read_rows, account_id)
                written = await card.push(Push(credential, details, ours, dry_run))
            return pulled, written
        except Unanswered as no:
            if no.status != "broken":
                raise
            await run_in_thread(reject_token, account_id, provider, credential.removeprefix("Bearer "))
            if last:
                raise
    raise AssertionError("unreachable")


def _not_connected(provider: str, card: Connector) -> ConnectionRequired:
    return ConnectionRequired(f"{card.title} is not connected to this account.", provider=provider)


async def _unavailable(account_id: int, provider: str, card: Connector, why: Unanswered) -> BackendUnavailable:
    if why.status == "broken":
        message = f"{card.title} no longer accepts the connection; connect_integration {provider} makes it again."
    else:
        message = f"{card.title} did not answer as it should; nothing was changed here."
        await run_in_thread(_store_error, account_id, provider, why.reason if why.status == "down" else why.status)
    return BackendUnavailable(message, [Outage(provider, why.status, retry_after_seconds=why.retry_after)])


def _take_lease(account_id: int, provider: str) -> dict[str, Any]:
    """Takes the lease of the connection."""
    now = clock.now()
    with transaction(account_id) as session:
        row = find_connection(session, account_id, provider, lock=True)
        if row is None or row.connected_at is None:
            raise _not_connected(provider, connector(provider))
        if row.syncing_until and row.syncing_until > now:
            raise _limit_reached("It is being synchronised right now.", 1, 1, row.syncing_until)
        verdict = hit(f"sync:{row.id}", MAX_SYNCS_PER_HOUR, HOUR_SECONDS)
        if not verdict.allowed:
            ends = now + timedelta(seconds=verdict.retry_after)
            raise _limit_reached(
                f"It was synchronised {MAX_SYNCS_PER_HOUR} times this hour.",
                MAX_SYNCS_PER_HOUR,
                MAX_SYNCS_PER_HOUR,
                ends,
            )
        row.syncing_until = now + LEASE
        return dict(row.details)


def _limit_reached(words: str, current: int, cap: int, ends: datetime) -> LimitReached:
    return LimitReached(words, limit="synchronisations", current=current, cap=cap, resets_at=ends)


def _end_lease(account_id: int, provider: str) -> None:
    with transaction(account_id) as session:
        row = find_connection(session, account_id, provider, lock=True)
        if row is not None:
            row.syncing_until = None


def _store_error(account_id: int, provider: str, reason: str) -> None:
    with transaction(account_id) as session:
        row = find_connection(session, account_id, provider, lock=True)
        if row is not None:
            row.last_error = reason


def _read_rows(account_id: int) -> Any:
    with transaction(account_id) as session:
        return build_rows(session, reference(), clock.now())


def _apply(account_id: int, provider: str, pulled: Pulled, written: Written | None, dry_run: bool) -> SyncResult:
    with transaction(account_id) as session:
        row = find_connection(session, account_id, provider, lock=True)
        if row is None or row.connected_at is None:
            raise _not_connected(provider, connector(provider))
        trial = session.begin_nested()
        report = _apply_pulled(session, row, pulled)
        if pulled.unreadable:
            report.conflict("entry", pulled.unreadable, "unreadable")
        now = clock.now()
        if written is not None:
            for keys, before in ((written.added, None), (written.changed, {})):
                for key in keys:
                    report.change("row", key, before, {})
            both = [*written.added, *written.changed]
            report.rows_pushed = len(both)
            report.bookings_pushed = sum(key.startswith(("flight:", "hotel:")) for key in both)
        if dry_run:
            trial.rollback()
            return SyncResult(report, now)
        trial.commit()
        if written is not None:
            row.details = {**row.details, **written.details}
        if written is None or not written.failed:
            row.last_sync_at, row.last_error = now, None
        return SyncResult(report, now)


def _apply_pulled(session: Any, row: Connection, pulled: Pulled) -> SyncReport:
    if pulled.accounts:
        return apply_points(session, reference(), row.account_id, row.provider, pulled.accounts)
    if row.provider == "tripit":
        whole = row.details.get("by") != "text"
        return apply(session, reference(), pulled, row.last_sync_at, whole=whole)
    return SyncReport()
