"""Alerts about delays at an airport: who is told, by which channel and from how many minutes."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field
from sqlalchemy.orm import Session

from mcp_server.toolkit import Call, CallBase, Effect, LiveCall, Paging, Part, Result, Tier, tool
from mcp_server.toolkit.edits import describe_changes, edit
from mcp_server.toolkit.own_rows import Capacity, check_cap, get_own, same_terms
from mcp_server.toolkit.parameters import Airport, Page, PerPage, RowId
from mcp_server.toolkit.wording import tell_rows
from mcp_server.views.route_monitors import find_airport_faults
from shared.db.accounts import Account, lock
from shared.db.delay_alerts import DelayAlert as Row
from shared.db.pagination import page_of
from shared.db.phones import list_proved
from shared.domain.phone_numbers import find_ending
from shared.domain.plurals import pluralize
from shared.domain.watch_kinds import DELAY_ALERT
from shared.errors import BackendUnavailable, Fault, Invalid, Outage
from shared.outbox.channels import sms, whatsapp
from shared.outbox.phone_codes import build_page_address
from shared.secrets import seal, unseal
from shared.services.watches.delay_alerts import PHONES, VERB, find_coverage, list_unproved_channels

Channel = Literal["email", "sms", "whatsapp"]
Channels = Annotated[list[Channel], Field(min_length=1)]
Phone = Annotated[str, Field(pattern=r"^\+[1-9]\d{6,14}$", description="Needed for sms and whatsapp.")]
AlertId = RowId
Minutes = Annotated[int, Field(ge=0, le=600)]
Label = Annotated[str, Field(max_length=80)]
_CHANNEL_IS_READY = {"sms": sms.ready, "whatsapp": whatsapp.ready}


class DelayAlert(Part):
    """An alert paused by a plan change shows as inactive. Of a number the last three digits are shown.

    By `unproved_channels` nothing is sent until the person has proved the number.
    """

    alert_id: int
    airport: str
    channels: list[Channel]
    unproved_channels: list[Channel]
    phone_number: str | None
    min_delay_minutes: int
    label: str | None
    active: bool
    last_checked_at: datetime | None
    last_triggered_at: datetime | None
    created_at: datetime


class OneAlert(Result):
    alert: DelayAlert


class DelayAlerts(Result):
    alerts: list[DelayAlert]
    paging: Paging


class UpdatedDelayAlert(Result):
    alert: DelayAlert
    changed: list[str]


class RemovedDelayAlert(Part):
    alert_id: int
    airport: str
    label: str | None


class DeletedDelayAlert(Result):
    removed: RemovedDelayAlert


def _list_proved(call: CallBase, session: Session, rows: Iterable[Row]) -> Collection[str]:
    """The proved numbers that these alerts need; without a number nothing is looked up."""
    return list_proved(session, call.account_id) if any(row.phone_sealed for row in rows) else ()


def _to_alert(row: Row, proved: Collection[str]) -> DelayAlert:
    columns = {name: getattr(row, name) for name in DelayAlert.model_fields if hasattr(row, name)}
    unproved = list_unproved_channels(row, proved)
    views = {"phone_number": row.phone_ending, "unproved_channels": unproved, "active": row.is_on}
    return DelayAlert.model_validate(columns | {"alert_id": row.id} | views)


def _warn_unproved_number(row: Row, proved: Collection[str]) -> str:
    """What the person must do before the number gets messages; empty if nothing."""
    channels = list_unproved_channels(row, proved)
    if not channels:
        return ""
    return (
        f" Nothing is sent by {' and '.join(channels)} until the user has proved the number ending in"
        f" {row.phone_ending}: on {build_page_address()} a code is sent to it, and the user enters it there."
        " The alert then uses the number by itself."
    )


_get_own_alert = partial(get_own, Row, "delay alert")


def _check_channels(channels: Iterable[str], phone: bool) -> None:
    """Raises Invalid when a phone number is missing, and BackendUnavailable for a channel that is not set up."""
    texts = [name for name in channels if name in PHONES]
    if texts and not phone:
        raise Invalid(Fault("phone_number", f"is missing for {texts[0]}", "a number such as +14155550100"))
    not_ready = [name for name in texts if not _CHANNEL_IS_READY[name]()]
    if not_ready:
        raise BackendUnavailable(
            f"The operator of this installation has not set up {' and '.join(not_ready)}; nothing was stored."
            " Use email.",
            [Outage(name, "not_configured") for name in not_ready],
        )


def _check_cap(call: CallBase, session: Session, row: Row, nothing: str) -> Capacity:
    alike = same_terms(row, "airport", "channels", "min_delay_minutes", "phone_ending")
    return check_cap(call, session, Row, f"active; {nothing}. Pause or delete one.", alike)


def _seal_phone(call: CallBase, number: str) -> dict[str, Any]:
    return {"phone_sealed": seal(call.settings.encryption_keys[0], number), "phone_ending": find_ending(number)}


async def _check_reach(call: LiveCall, airport: str) -> str:
    """A sentence about the source, or nothing. Raises BackendUnavailable when no source covers the airport."""
    coverage = await find_coverage(call.ask, airport)
    if coverage in ("not_covered", "not_configured"):
        why = (
            "No source of this installation covers" if coverage == "not_covered" else "There is no source of delays for"
        )
        raise BackendUnavailable(f"{why} {airport}; nothing was stored.", [Outage(VERB, coverage)])
    return "" if coverage == "covered" else " The source does not answer at this moment; it is asked again."


def _warn_unconfirmed_email(session: Session, account_id: int, channels: Sequence[str]) -> str:
    if "email" not in channels:
        return ""
    account = session.get_one(Account, account_id)
    if account.email and account.email_confirmed_at:
        return ""
    return " This account has no confirmed email address, so nothing is mailed; it stands among the notifications."


@tool("alerts", Tier.PREMIUM, Effect.ADDS, "Create an airport delay alert", open_world=True)
async def create_delay_alert(
    call: LiveCall,
    airport: Airport,
    channels: Channels = ["email"],  # noqa: B006 - the default hosts are shown; never changed
    phone_number: Phone | None = None,
    min_delay_minutes: Minutes = 30,
    label: Label | None = None,
) -> OneAlert:
    """Warns the user by text message (SMS), WhatsApp or email of delays or a ground stop at an airport.

    For "Text me when O'Hare gets bad." For a travel day with snow, fog, storms or strikes, in minutes late. Not for one
    flight. Premium.
    """
    if faults := find_airport_faults(call, {"airport": airport}):
        raise Invalid(*faults)
    _check_channels(channels, phone_number is not None)
    row = Row(
        airport=airport,
        channels=list(dict.fromkeys(channels)),
        min_delay_minutes=min_delay_minutes,
        label=(label or "").strip() or None,
        active=True,
        **(_seal_phone(call, phone_number) if phone_number else {}),
    )
    nothing = "nothing was created"
    await call.in_session(lambda session: _check_cap(call, session, row, nothing))
    source = await _check_reach(call, airport)

    def store(session: Session) -> OneAlert:
        room = _check_cap(call, session, row, nothing)
        session.add(row)
        session.flush()
        phones = _list_proved(call, session, [row])
        warnings = _warn_unconfirmed_email(session, call.account_id, channels) + _warn_unproved_number(row, phones)
        message = f"Alert {row.id}: {_describe_terms(row)}.{source}{warnings}{room.same}"
        return OneAlert(message=message, alert=_to_alert(row, phones))

    return await call.in_session(store)


def _describe_terms(row: Row) -> str:
    least = pluralize(row.min_delay_minutes, "minute") if row.min_delay_minutes else "anything above zero"
    return f"you get a message by {' and '.join(row.channels)} once delays at {row.airport} reach {least}"


@tool("alerts", Tier.FREE, Effect.READS, "List airport delay alerts")
def list_delay_alerts(
    call: Call, alert_id: RowId | None = None, active: bool | None = None, page: Page = 1, per_page: PerPage = 20
) -> DelayAlerts:
    """Lists the user's airport delay alerts, active or paused, and when each last warned.

    For "Which airports do you watch for me?" Free.
    """
    if alert_id is not None:
        _get_own_alert(call.db, alert_id)
    conditions = [Row.id == alert_id] if alert_id is not None else []
    if active is not None:
        conditions.append(Row.is_running() if active else ~Row.is_running())
    rows, total = page_of(call.db, Row, conditions, Row.id.desc(), page=page, per_page=per_page)
    phones = _list_proved(call, call.db, rows)
    return DelayAlerts(
        message=f"{tell_rows(total, 'delay alert', (row.airport for row in rows))}"
        f" This plan allows {DELAY_ALERT.cap(call.plan)} active.",
        alerts=[_to_alert(row, phones) for row in rows],
        paging=Paging.of(page, per_page, total),
    )


@tool("alerts", Tier.PREMIUM, Effect.CHANGES, "Change an airport delay alert", open_world=True)
def update_delay_alert(
    call: Call,
    alert_id: AlertId,
    active: bool | None = None,
    channels: Channels | None = None,
    phone_number: Phone | None = None,
    min_delay_minutes: Minutes | None = None,
    label: Label | None = None,
    clear: list[Literal["phone_number", "label"]] | None = None,
) -> UpdatedDelayAlert:
    """Changes an airport delay alert: minutes, phone, channels; active false pauses or mutes it, true resumes.

    For "I get too many texts." Premium.
    """
    lock(call.db, call.account_id)
    row = _get_own_alert(call.db, alert_id, locked=True)
    starts = bool(active) and not row.is_on
    was_paused = row.paused_at is not None
    if starts:
        _check_cap(call, call.db, row, "this one stays paused")
        row.paused_at = None
    new = list(dict.fromkeys(channels)) if channels is not None else None
    emptied = set(clear or ())
    if "phone_number" in emptied and phone_number is not None:
        raise Invalid(Fault("clear", "names phone_number, which is sent as well", "fields that are not sent"))
    has_phone = phone_number is not None or (row.phone_sealed is not None and "phone_number" not in emptied)
    before = row.channels
    _check_channels([c for c in new or before if c not in before or not has_phone], has_phone)
    values: dict[str, Any] = {
        "active": active,
        "channels": new,
        "min_delay_minutes": min_delay_minutes,
        "label": label.strip() if label is not None else None,
    }
    changed = edit(row, call.now, values, [name for name in clear or () if name != "phone_number"])
    changed += _update_phone(call, row, phone_number, empty="phone_number" in emptied)
    if starts and was_paused and "active" not in changed:  # a plan change had paused it, which leaves `active` true
        changed.append("active")
    if starts or "min_delay_minutes" in changed:
        row.episode_since = row.episode_level = None
    call.db.flush()
    phones = _list_proved(call, call.db, [row])
    state = f"Alert {row.id}: {_describe_terms(row)}." if row.is_on else f"Alert {row.id} is paused."
    alert = _to_alert(row, phones)
    changes = describe_changes(f"the alert for {row.airport}", alert, changed)
    message = f"{changes} {state}{_warn_unproved_number(row, phones)}"
    return UpdatedDelayAlert(message=message, alert=alert, changed=changed)


def _update_phone(call: Call, row: Row, number: str | None, *, empty: bool) -> list[str]:
    """Compares the decrypted numbers, as encryption differs each time."""
    stored = unseal(call.settings.encryption_keys, row.phone_sealed) if row.phone_sealed else None
    if number in (None, stored) and not (empty and row.phone_sealed):
        return []
    new = _seal_phone(call, number) if number else {"phone_sealed": None, "phone_ending": None}
    for name, value in (new | {"proof_asked_at": None}).items():
        setattr(row, name, value)
    return ["phone_number"]


@tool("alerts", Tier.PREMIUM, Effect.CHANGES, "Delete an airport delay alert")
def delete_delay_alert(call: Call, alert_id: AlertId) -> DeletedDelayAlert:
    """Deletes an airport delay alert permanently, so no more warnings; confirm with the user first.

    For "I don't need delay warnings for Denver anymore." To pause it: update_delay_alert and active false. Premium.
    """
    row = _get_own_alert(call.db, alert_id, locked=True)
    removed = RemovedDelayAlert(alert_id=row.id, airport=row.airport, label=row.label)
    call.db.delete(row)
    call.db.flush()
    return DeletedDelayAlert(message=f"Alert {removed.alert_id} for {removed.airport} is deleted.", removed=removed)
