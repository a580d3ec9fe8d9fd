"""Phone numbers of an account: a code is sent to a number, entered by its owner, and only then is the number used."""

import secrets
from dataclasses import dataclass

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from auth_server.accounts import proof_codes
from auth_server.accounts.security_events import record_event
from auth_server.web.unit_of_work import UnitOfWork
from shared import clock
from shared.db.accounts import Account, lock
from shared.db.delay_alerts import DelayAlert
from shared.db.messages import find_last_status
from shared.db.phones import PhoneNumber, hash_number
from shared.domain.phone_numbers import find_ending
from shared.domain.plans import Plan
from shared.outbox.channels import sms, whatsapp
from shared.outbox.enqueue import Phone, write_to_phone
from shared.outbox.phone_codes import make_facts
from shared.secrets import seal, unseal
from shared.settings import settings

MAX_NUMBERS = 10
PER_NUMBER_AND_HOUR, PER_ACCOUNT_AND_DAY = 3, 10
HOUR_SECONDS, DAY_SECONDS = 3600, 24 * 3600
EVENT = "phone_code"
PhoneRefused = proof_codes.ProofRefused  # a refused number or code


@dataclass(frozen=True)
class WaitingNumber:
    """A number that a delay alert names and no one has proved."""

    alert_id: int
    ending: str
    airport: str


def list_channels() -> list[str]:
    """The ways by which this installation can send a code."""
    ready = {"sms": sms.ready(), "whatsapp": whatsapp.can_send_codes()}
    return [channel for channel, is_ready in ready.items() if is_ready]


def list_numbers(db: Session, account_id: int) -> list[PhoneNumber]:
    own = PhoneNumber.account_id == account_id
    return list(db.scalars(select(PhoneNumber).where(own).order_by(PhoneNumber.id)))


def find_number(db: Session, account_id: int, phone_id: int) -> PhoneNumber | None:
    """One of the account's numbers, locked: of two tries at once each counts."""
    own = (PhoneNumber.account_id == account_id, PhoneNumber.id == phone_id)
    return db.scalar(select(PhoneNumber).where(*own).with_for_update())


def open_number(phone: PhoneNumber) -> str | None:
    return unseal(settings().encryption_keys, phone.number_sealed)


def list_waiting(db: Session, account_id: int) -> list[WaitingNumber]:
    """Each number that delay alerts name and the account has not added, once."""
    own = (DelayAlert.account_id == account_id, DelayAlert.phone_sealed.is_not(None))
    waiting: dict[str, WaitingNumber] = {}
    hashes = {phone.number_hash for phone in list_numbers(db, account_id)}
    for alert in db.scalars(select(DelayAlert).where(*own).order_by(DelayAlert.id)):
        number = unseal(settings().encryption_keys, alert.phone_sealed or "")
        if number is not None and hashes.isdisjoint(hash_number(number)):
            waiting.setdefault(number, WaitingNumber(alert.id, find_ending(number), alert.airport))
    return list(waiting.values())


def find_number_of_alert(db: Session, account_id: int, alert_id: int) -> str | None:
    own = (DelayAlert.account_id == account_id, DelayAlert.id == alert_id)
    sealed = db.scalar(select(DelayAlert.phone_sealed).where(*own))
    return unseal(settings().encryption_keys, sealed) if sealed else None


def is_undelivered(db: Session, phone: PhoneNumber) -> bool:
    """Whether the last code surely did not arrive."""
    return find_last_status(db, phone.account_id, f"{EVENT}:{phone.id}:") == "failed"


def explain_bar(account: Account) -> str | None:
    """Why no code can be sent for this account, if none can: each costs the operator money."""
    if not list_channels():
        return "This service sends no text messages: its operator has not set that up."
    if Plan.of(account.plan) < Plan.PREMIUM:
        return "Alerts to a phone are part of the Premium plan."
    if not account.email or account.email_confirmed_at is None:
        return "Please confirm your email address first. Then you can add a phone number."
    return None


def send_code(uow: UnitOfWork, account: Account, number: str, channel: str) -> None:
    """Sends a new code to a number of E.164, in place of an earlier code. Raises PhoneRefused."""
    if (bar := explain_bar(account)) is not None:
        raise PhoneRefused(bar)
    if channel not in list_channels():
        raise PhoneRefused("Please choose how the code is sent.")
    lock(uow.db, account.id)
    same = (PhoneNumber.account_id == account.id, PhoneNumber.number_hash.in_(hash_number(number)))
    phone = uow.db.scalar(select(PhoneNumber).where(*same).with_for_update())
    if phone is not None and phone.proved_at is not None:
        raise PhoneRefused("This number is proved already.")
    if phone is None and len(list_numbers(uow.db, account.id)) >= MAX_NUMBERS:
        raise PhoneRefused(f"You have {MAX_NUMBERS} numbers. Remove one first.")
    _count_code(account.id, hash_number(number)[0])
    _write_code(uow, account, phone or _add_number(uow.db, account, number), channel)


def _add_number(db: Session, account: Account, number: str) -> PhoneNumber:
    phone = PhoneNumber(
        account_id=account.id,
        number_sealed=seal(settings().encryption_keys[0], number),
        number_hash=hash_number(number)[0],
        phone_ending=find_ending(number),
        created_at=clock.now(),
    )
    db.add(phone)
    db.flush()
    return phone


def _count_code(account_id: int, number_hash: str) -> None:
    """Raises PhoneRefused beyond a limit."""
    proof_codes.count_code(
        [
            (f"phone:to:{number_hash}", PER_NUMBER_AND_HOUR, HOUR_SECONDS, "A number gets at most {} codes an hour."),
            (f"phone:of:{account_id}", PER_ACCOUNT_AND_DAY, DAY_SECONDS, "An account gets at most {} codes a day."),
            ("phone:codes", settings().phone_codes_per_day, DAY_SECONDS, "This service sends at most {} codes a day."),
        ]
    )


def _write_code(uow: UnitOfWork, account: Account, phone: PhoneNumber, channel: str) -> None:
    facts = make_facts(account.public_id)
    proof_codes.note_code(phone, phone.number_hash, facts)
    recipient = Phone(channel, phone.number_sealed, phone.phone_ending)
    key = f"{EVENT}:{phone.id}:{secrets.token_hex(8)}"
    write_to_phone(uow.db, account, recipient, EVENT, facts, dedupe_key=key)


def prove(uow: UnitOfWork, account: Account, phone: PhoneNumber, code: str, user_agent: str) -> None:
    """Makes a number one that alerts are sent to. Raises PhoneRefused; a wrong code counts."""
    if proof_codes.check_code(phone, phone.number_hash, code):
        record_event(uow, account, "phone_added", subject=name_number(phone), user_agent=user_agent)


def name_number(phone: PhoneNumber) -> str:
    return f"the number ending in {phone.phone_ending}"


def remove(uow: UnitOfWork, account: Account, phone: PhoneNumber, user_agent: str) -> None:
    """Alerts that name the number keep it and wait for proof."""
    if phone.proved_at is not None:
        record_event(uow, account, "phone_removed", subject=name_number(phone), user_agent=user_agent)
    uow.db.execute(delete(PhoneNumber).where(PhoneNumber.id == phone.id))


def count_proved(db: Session, account_id: int) -> int:
    conditions = (PhoneNumber.account_id == account_id, PhoneNumber.proved_at.is_not(None))
    return db.scalar(select(func.count()).select_from(PhoneNumber).where(*conditions)) or 0
