"""Booking confirmations received by mail: stored first, then read, then filed as bookings.

What was read is a stranger's text: facts are taken from it, cut to size, and it is never obeyed.
"""

import re
import resource
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session, undefer

from shared import clock
from shared.db import inbound_mail as mails
from shared.db.accounts import Account, lock
from shared.db.base import own, transaction
from shared.db.inbound_mail import Holder, InboundMail
from shared.db.runs import COMPLETE, RunResult
from shared.domain.confirmations.clean_text import to_one_line
from shared.domain.confirmations.mail_parts import UnreadableMail, read_headers
from shared.domain.confirmations.model import Doubt, MailReading, to_json, to_plain_balance
from shared.domain.dates import format_day
from shared.domain.plans import Plan, Tier, is_allowed
from shared.domain.senders import Judgement, Trust
from shared.errors import Candidates, Invalid, NotFound
from shared.outbox.enqueue import tell
from shared.processes.bounded_process import Budget, ReaderEnded, read_bounded
from shared.reference import hotels
from shared.reference.load import reference
from shared.reference.name_lookup import TravelNames
from shared.secrets import digest
from shared.services.bookings import mail_bookings
from shared.services.bookings.mail_bookings import FilingResult
from shared.settings import settings

PURPOSE = "inbox"
MAX_MAIL_BYTES = 10 << 20  # of one mail
MAX_WAITING_MAILS = 300  # unsettled mails of one account
MAX_WAITING_BYTES = 100 << 20
MAX_UNPAID_BYTES = 1 << 30  # of all Free accounts together, whose addresses cost nothing
LEAST_FREE_BYTES = 512 << 20  # of this machine's disk, on which the database of most installations is too
SLOW_SECONDS, SLOW_WAIT = 2.0, timedelta(hours=1)  # of the processor; a letter of an airline takes 0.2
# The slowest mails built to be slow take 3 s on two cores, files of a letter up to 10 s of the clock by themselves. All
# has to end well before the job, after 80 s, 20 s of which may have gone into other mails.
READING_BUDGET = Budget(processor_seconds=10, seconds=40, memory_bytes=768 << 20)
RETENTION = timedelta(days=30)  # unreadable mail, and mail set aside by a person
_SECRET = re.compile(r"[0-9a-f]{40}")


class RefusalReason(Enum):
    """Why a mail is refused; the listener and the web hook choose what the sender is told of it."""

    UNKNOWN = "no such address"
    OFF = "its owner may not receive mail here at present"
    FULL = "too much waits to be looked at"
    NO_ROOM = "the disk is nearly full"


class MailRefused(Exception):
    def __init__(self, why: RefusalReason) -> None:
        super().__init__(why.value)
        self.why = why


@dataclass(frozen=True)
class ReadMail:
    """What a mail states, or why it cannot be read, and what it may do automatically."""

    reading: MailReading | str
    sender: Judgement
    is_slow: bool = False


def address_of(secret: str) -> str | None:
    """The private address of a secret; None if this installation takes no mail."""
    return f"{secret}@{settings().inbox_domain}" if settings().inbox_domain else None


def find_account(session: Session, recipient: str) -> Holder:
    """The account an address belongs to, if it accepts mail now. Raises MailRefused."""
    local, _, domain = recipient.strip().strip("<>").rpartition("@")
    secret = local.lower()
    if domain.lower() != (settings().inbox_domain or "").lower() or not _SECRET.fullmatch(secret):
        raise MailRefused(RefusalReason.UNKNOWN)
    holder = mails.find_holder(session, digest(secret))
    if holder is None:
        raise MailRefused(RefusalReason.UNKNOWN)
    on_trial = holder.trial_ends_on is not None and holder.trial_ends_on > clock.now()
    if holder.disabled or not holder.has_person or not (on_trial or is_allowed(Plan.of(holder.plan), Tier.PREMIUM)):
        raise MailRefused(RefusalReason.OFF)
    return holder


def check_recipient(recipient: str) -> int:
    """The same in its own transaction: the account. A full mailbox is refused here, so that others get the letter."""
    with transaction() as session:
        holder = find_account(session, recipient)
        _check_room(session, holder, 0)
        return holder.account_id


def store(recipients: list[str], raw: bytes) -> int:
    """Stores a mail for each recipient, all or none, committed on return. Returns the number of new ones.

    Raises MailRefused.
    """
    if shutil.disk_usage(settings().outbox_dir or Path.cwd()).free < LEAST_FREE_BYTES:
        raise MailRefused(RefusalReason.NO_ROOM)
    facts = _describe(raw)  # 10 MB take 0.05 s, so not in the transaction nor for each recipient
    with transaction() as session:
        stored = 0
        holders = sorted({find_account(session, r) for r in recipients})
        if any(holder.plan == Plan.FREE.slug for holder in holders):
            mails.lock_unpaid(session)
        for holder in holders:  # by number, so that two letters to the same people do not block each other
            lock(session, holder.account_id)
            _check_room(session, holder, len(raw))
            stored += mails.store_mail(session, account_id=holder.account_id, raw=raw, **facts)
        return stored


def _describe(raw: bytes) -> dict[str, str]:
    try:
        head = read_headers(raw)
        domain, subject = head.domain, head.subject
    except UnreadableMail:
        domain, subject = "", ""
    return {"digest": _digest(raw), "from_domain": to_one_line(domain, 120), "subject": to_one_line(subject, 160)}


def _check_room(session: Session, holder: Holder, size: int) -> None:
    """Raises MailRefused where a letter of that size finds no room."""
    count, waiting = mails.count_waiting(session, holder.account_id)
    is_full = count >= MAX_WAITING_MAILS or waiting + size > MAX_WAITING_BYTES
    if is_full or (holder.plan == Plan.FREE.slug and mails.count_unpaid(session) + size > MAX_UNPAID_BYTES):
        raise MailRefused(RefusalReason.FULL)


def _digest(raw: bytes) -> str:
    """A digest of a letter's own id and text, the same for copies that came by different routes."""
    head, _, body = raw.replace(b"\r\n", b"\n").partition(b"\n\n")
    message_id = re.search(rb"^message-id:\s*(\S+)", head[:100_000], re.I | re.M)
    return digest(((message_id[1] if message_id else head) + b"\n" + body.rstrip()).decode("latin-1"))


def read_stored(number: int) -> ReadMail | None:
    """What a mail states and who sent it, read outside any transaction; None when it is settled."""
    with transaction() as session:
        waiting = (
            select(InboundMail)
            .where(InboundMail.number == number, InboundMail.state == "received")
            .options(undefer(InboundMail.raw))
        )
        mail = session.scalars(waiting).one_or_none()
    if mail is None or mail.raw is None:
        return None
    from shared.services.bookings.mail_senders import (
        judge_mail,
    )  # imported here: it brings the libraries of DKIM and DNS

    before = _count_seconds()
    reading = _read_apart(mail.raw)
    is_slow = _count_seconds() - before > SLOW_SECONDS
    return ReadMail(reading, judge_mail(reference(), mail, mail.raw), is_slow)


def _count_seconds() -> float:
    """Processor seconds used by processes started here."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _read_apart(raw: bytes) -> MailReading | str:
    """The same in a process that can be ended: a mail over its budget fails at once and is not tried again."""
    try:
        return read_bounded(READING_BUDGET, _read_letter, raw, inherit=True)
    except ReaderEnded as ended:
        return str(ended)


def _read_letter(raw: bytes) -> MailReading | str:
    """Reads a letter; returns the reason if it cannot."""
    # Imported here: 150 modules and 6 MB that the tool server, which only stores mails, never needs.
    from shared.domain.confirmations.excerpts import find_excerpt, find_letter_day
    from shared.domain.confirmations.mail_reader import read_mail

    try:
        reading = read_mail(raw, TravelNames(reference()))
        missing = reading.missing or (["booking"] if reading.bookings else ["points" if reading.balance else "type"])
        excerpt = find_excerpt(raw, missing)
        return replace(reading, posted=find_letter_day(raw), excerpt=excerpt)
    except UnreadableMail as no:
        return str(no)
    except MemoryError:
        raise
    except Exception as bug:  # the edge: an unforeseen letter stops no other, and is kept for a person
        return type(bug).__name__


def settle(session: Session, number: int, letter: ReadMail | None) -> RunResult:
    """Writes what became of a mail: imported, waiting for a person, or failed."""
    mail = mails.lock_mail(session, InboundMail.number == number)
    if mail is None or letter is None or mail.state != "received":
        mails.end_schedule(session, number)
        return COMPLETE
    mails.note_turn(session, mail.account_id, SLOW_WAIT if letter.is_slow else None)
    filed = FilingResult()
    own(session, mail.account_id, settings().data_mode)
    mail.sender, mail.sender_verified = letter.sender.sender, letter.sender.is_verified
    if isinstance(letter.reading, str):
        _mark_failed(mail, letter.reading)
    else:
        _store_reading(mail, letter.reading)
        if letter.sender.trust is Trust.NONE and letter.reading.bookings:
            mail.missing = ["sender", *mail.missing]
        elif letter.reading.bookings and not letter.reading.missing:
            filed = _file_bookings(session, mail, may_change=letter.sender.trust is Trust.FULL)
            if mail.missing[:1] in (["booking"], ["changed_booking"]) and mails.has_unread(
                session, mail.account_id, mail.id
            ):
                mail.state = "received"
                return RunResult("what it is about may be among mails that were not read yet")
        # Why the mail waits, if because of its sender.
        if "sender" in mail.missing:
            doubt = {"field": "sender", "reason": letter.sender.reason, "values": [letter.sender.sender], "about": ""}
            mail.parsed = mail.parsed | {"doubts": [doubt, *mail.parsed["doubts"]]}
    session.flush()
    _notify(session, mail, filed)
    mails.end_schedule(session, number)
    return COMPLETE


def _file_bookings(session: Session, mail: InboundMail, *, may_change: bool) -> FilingResult:
    """Stores the bookings; faults are for the person to correct."""
    try:
        return mail_bookings.file_bookings(session, reference(), mail, mail.parsed["bookings"], may_change=may_change)
    except (Invalid, NotFound, Candidates) as no:
        errors = no.facts.get("errors") or [{"field": no.facts.get("what", "bookings")}]
        mail.missing = [str(e["field"]) for e in errors]
        return FilingResult(missing=mail.missing)


def _notify(session: Session, mail: InboundMail, filed: FilingResult) -> None:
    """Writes one notice for each mail, whatever its result; never a mail about a mail."""
    legs = [
        f"{f.flight_number or f.airline} {f.origin} to {f.destination} on {format_day(f.departure_date)}"
        for f in filed.flights
    ]
    stays = [
        f"{h.hotel_name} from {format_day(h.check_in_date)} to {format_day(h.check_out_date)}" for h in filed.hotels
    ]
    facts = {
        "state": mail.state,
        "bookings": legs + stays,
        "cancelled": any(b.get("action") == "cancel" for b in mail.parsed.get("bookings", [])),
        "known": len(legs) + len(stays) - len(filed.new),
        "changes": filed.changes,
        "found": bool(mail.parsed.get("bookings")),
        "balance": _describe_balance(mail.parsed.get("balance")),
        "missing": mail.missing,
        "reason": next((d["reason"] for d in mail.parsed.get("doubts", []) if d["field"] == "type"), ""),
    }
    account = session.get_one(Account, mail.account_id)
    tell(session, account, "inbox_mail", facts, dedupe_key=f"inbox:{mail.id}", subject=("inbox_message", str(mail.id)))


def _describe_balance(stated: Mapping[str, Any] | None) -> str:
    """`Aeroplan: 42,318 points`; empty without a balance, or if something about it is open."""
    if not stated or not stated["program"] or stated["balance"] is None:
        return ""
    return f"{reference().programs[stated['program']].name}: {stated['balance']:,} points"


def _store_reading(mail: InboundMail, reading: MailReading) -> None:
    """Stores the reading until a person or the next step settles it."""
    bookings = [to_json(b) for b in reading.bookings]
    doubts = reading.all_doubts
    if reading.other:
        doubts = [
            *doubts,
            Doubt("type", f"The letter is about {reading.other}: no flight, no stay, nothing was stored."),
        ]
    for booking in bookings:
        if booking["type"] == "hotel" and "hotel_id" not in booking and "hotel_name" in booking:
            booking["nearest_hotels"] = hotels.find_nearest_names(reference(), booking["hotel_name"])
    mail.parsed = {
        "source": reading.source,
        "forwarded": reading.forwarded,
        "bookings": bookings,
        "posted": reading.posted and reading.posted.isoformat(),
        "doubts": [_to_plain_doubt(d) for d in doubts],
        "unread": [{"name": to_one_line(f.name, 120), "reason": f.reason} for f in reading.unread],
        "excerpt": reading.excerpt,
    }
    if reading.balance:
        mail.parsed = mail.parsed | {"balance": to_plain_balance(reading.balance)}
    mail.state, mail.missing, mail.confidence = "needs_review", reading.missing, reading.confidence
    mail.kind = bookings[0]["type"] if bookings and bookings[0].get("type") in ("flight", "hotel") else "unknown"
    mail.keep_until = None if bookings else mail.received_at + RETENTION


def _to_plain_doubt(doubt: Doubt) -> dict[str, Any]:
    values = [v if isinstance(v, int | float) else to_one_line(str(v), 120) for v in doubt.values[:6]]
    return {"field": doubt.field, "reason": doubt.reason, "values": values, "about": to_one_line(doubt.about, 120)}


def _mark_failed(mail: InboundMail, reason: str) -> None:
    mail.state, mail.error, mail.missing, mail.confidence = "failed", reason[:200], ["bookings"], 0.0
    mail.keep_until = mail.received_at + RETENTION


def settle_lost(session: Session, number: int) -> None:
    """Keeps a mail whose readers were lost again and again, and shows it as failed."""
    mail = mails.lock_mail(session, InboundMail.number == number)
    if mail is not None and mail.state == "received":
        mails.note_turn(session, mail.account_id, SLOW_WAIT)
        own(session, mail.account_id, settings().data_mode)
        _mark_failed(mail, "its readers were lost")
        session.flush()
        _notify(session, mail, FilingResult())
    mails.end_schedule(session, number)


def set_aside(mail: InboundMail, now: datetime) -> None:
    """The person wants nothing of it: its text goes at once, its row in a month."""
    mail.raw, mail.state, mail.missing, mail.keep_until = None, "discarded", [], now + RETENTION
