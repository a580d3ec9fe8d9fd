"""Mails about deadlines: each deadline at 90, 30 and 7 days, and a weekly overview for those who want one."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from types import MappingProxyType
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared.db.bookings import FlightBooking, HotelBooking
from shared.db.deadline_mails import list_waiting, lock_watch, note_told
from shared.db.messages import Notification
from shared.db.portfolio import Holdings, read_holdings
from shared.db.profile import Addressee, Profile, find_addressee
from shared.db.upcoming_bookings import earliest_today
from shared.domain import time_zones
from shared.domain.deadlines import STEPS, Deadline, describe_next_step, find_step, select_due
from shared.domain.household import add_member
from shared.domain.plurals import pluralize
from shared.domain.watch_kinds import WATCH_KINDS
from shared.outbox.enqueue import is_wanted_by_channel, tell
from shared.reference.reference import Reference
from shared.services.bookings.bookings import flight_state, stay_state
from shared.services.deadlines import TABLES, Viewpoint, choose_currency, find_deadlines
from shared.services.own_programs import add_own_programs

# What the weekly overview has next to deadlines: what watches found in the last week, and what is booked next.

WEEK, NEXT_DAYS = timedelta(days=7), 30
MAX_FINDS, MAX_BOOKINGS = 5, 5  # in one mail; the rest are counted
_MAX_NOTICES = 500  # of a week to search for the newest of each watch
_KINDS = [kind.notice for kind in WATCH_KINDS if kind.is_find]


def read_news(session: Session, account_id: int, view: Viewpoint, holdings: Holdings, zone: str) -> dict[str, Any]:
    """The facts of both parts: rows of title, day, words and subject, and how many there are of each."""
    finds = _list_finds(session, account_id, view.now, zone)
    bookings = sorted(_list_bookings(view, holdings), key=lambda row: (row["on"], row["title"]))
    return {
        "finds": finds[:MAX_FINDS],
        "finds_total": len(finds),
        "bookings": bookings[:MAX_BOOKINGS],
        "bookings_total": len(bookings),
    }


def _list_finds(session: Session, account_id: int, now: datetime, zone: str) -> list[dict[str, Any]]:
    """The newest find of each watch, the newest first."""
    columns = (Notification.title, Notification.created_at, Notification.subject_type, Notification.subject_id)
    recent = (
        sa.select(*columns)
        .where(Notification.account_id == account_id, Notification.kind.in_(_KINDS))
        .where(Notification.created_at >= now - WEEK, Notification.subject_id.is_not(None))
        .order_by(Notification.created_at.desc(), Notification.id)
        .limit(_MAX_NOTICES)
    )
    newest: dict[tuple[str, str], dict[str, Any]] = {}
    for title, at, subject_type, subject_id in session.execute(recent):
        row = _to_row(title, time_zones.find_local_day(at, zone), "", str(subject_type), str(subject_id))
        newest.setdefault((row["subject"][0], row["subject"][1]), row)
    return list(newest.values())


def _to_row(title: str, on: date, about: str, subject_type: str, subject_id: str) -> dict[str, Any]:
    return {"title": title, "on": on.isoformat(), "about": about, "subject": [subject_type, subject_id]}


def _list_bookings(view: Viewpoint, holdings: Holdings) -> Iterator[dict[str, Any]]:
    last = view.today + timedelta(days=NEXT_DAYS)
    for flight in holdings.flights:
        if flight.departure_date <= last and flight_state(view.reference, flight, view.now) == "upcoming":
            yield _describe_flight(flight)
    for stay in holdings.stays:
        if stay.check_in_date <= last and stay_state(view.reference, stay, view.now) == "upcoming":
            yield _describe_stay(stay)


def _describe_flight(row: FlightBooking) -> dict[str, Any]:
    title = add_member(f"{row.origin} to {row.destination}", row.member)
    words = (row.flight_number or row.airline, f"{row.departure_time:%H:%M}" if row.departure_time else "")
    return _to_row(title, row.departure_date, ", ".join(filter(None, words)), "flight_booking", str(row.id))


def _describe_stay(row: HotelBooking) -> dict[str, Any]:
    nights = pluralize((row.check_out_date - row.check_in_date).days, "night")
    return _to_row(add_member(row.hotel_name, row.member), row.check_in_date, nights, "hotel_booking", str(row.id))


EVENT, OVERVIEW = "deadlines", "weekly_overview"
FROM_HOUR = 8  # of the person's own day
MONDAY = 0
MAX_AHEAD = max(STEPS)
MAX_LISTED = 10  # deadlines in one mail, which stays under 30 kB; the rest are counted, and are on their page


def list_due_accounts(session: Session, now: datetime, after: int, number: int) -> tuple[list[int], int | None]:
    """Accounts whose day has started and not been checked, and the id to continue after; None at the end."""
    waiting = list_waiting(session, after, now.date() + timedelta(days=1), number)
    due = [w.account_id for w in waiting if _is_due(w.time_zone, w.looked_on, now)]
    return due, waiting[-1].account_id if len(waiting) == number else None


def _is_due(time_zone: str | None, looked_on: date | None, now: datetime) -> bool:
    local = now.astimezone(time_zones.find_zone(time_zone or time_zones.UTC) or time_zones.find_zone(time_zones.UTC))
    return local.hour >= FROM_HOUR and (looked_on is None or looked_on < local.date())


def tell_deadlines(session: Session, reference: Reference, account_id: int, now: datetime) -> None:
    """Tells an account its due deadlines and overview, and marks its day as checked, in one transaction."""
    profile = session.scalar(sa.select(Profile).where(Profile.account_id == account_id))
    watch = lock_watch(session, account_id)
    time_zone = (profile.timezone if profile else None) or time_zones.UTC
    if not _is_due(time_zone, watch.looked_on, now):
        return  # another worker was here
    today = time_zones.find_local_day(now, time_zone)
    holdings = read_holdings(session, earliest_today(now))
    facts = add_own_programs(session, reference, [b.program for b in holdings.balances])
    view = Viewpoint(facts, now, today, choose_currency((profile and profile.currency) or "USD"))
    due = [
        deadline
        for deadline in select_due(find_deadlines(view, holdings, tuple(TABLES)), MAX_AHEAD)
        if deadline.days_left >= 0 and _loses_something(deadline, holdings)
    ]
    watch.looked_on = today
    account = find_addressee(session, account_id)
    steps = {_key_of(d): step for d in due if (step := find_step(d.kind, d.days_left)) is not None}
    news = note_told(session, account.id, steps, today)
    _send(session, account, EVENT, [d for d in due if _key_of(d) in news], today)
    # Once a week, on Monday or the first checked day after it.
    monday = today - timedelta(days=today.weekday() - MONDAY)
    is_wanted = account.mail_switches[OVERVIEW] or is_wanted_by_channel(account, OVERVIEW)
    if is_wanted and (watch.overview_on is None or watch.overview_on < monday):
        watch.overview_on = today
        _send(session, account, OVERVIEW, due, today, read_news(session, account_id, view, holdings, time_zone))


def _loses_something(deadline: Deadline, holdings: Holdings) -> bool:
    """Whether something is lost; of bookings only free cancellation counts: people know when they leave."""
    if deadline.kind != "booking":
        return True
    stays: dict[str, HotelBooking] = {str(stay.id): stay for stay in holdings.stays}
    stay = stays.get(deadline.subject.id) if deadline.subject.type == "hotel_booking" else None
    return stay is not None and deadline.due_on == stay.free_cancellation_until


def _key_of(deadline: Deadline) -> tuple[str, date]:
    return f"{deadline.kind}|{deadline.subject.type}|{deadline.subject.id}", deadline.due_on


def _send(
    session: Session,
    account: Addressee,
    event: str,
    due: Sequence[Deadline],
    today: date,
    news: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """`news`: what the overview has next to deadlines."""
    if not due and not news.get("finds") and not news.get("bookings"):
        return
    tell(
        session,
        account,
        event,
        {"total": len(due), "deadlines": [_describe(deadline) for deadline in due[:MAX_LISTED]]}
        | ({"first": describe_next_step(due)} if len(due) > 1 else {})
        | dict(news),
        dedupe_key=f"{event}:{account.id}:{today}",
        mail=True,
    )


def _describe(deadline: Deadline) -> dict[str, Any]:
    risk = deadline.value_at_risk
    return {
        "kind": deadline.kind,
        "title": deadline.title,
        "subject": [deadline.subject.type, deadline.subject.id],
        "due_on": deadline.due_on.isoformat(),
        "days_left": deadline.days_left,
        "amount": None if deadline.amount is None else str(deadline.amount),
        "currency": deadline.currency,
        "worth": None if risk is None else str(risk.amount),
        "worth_currency": risk and risk.currency,
    }
