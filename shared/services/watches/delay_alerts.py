"""Checks of watched airports: delays reported by the sources, and the messages about them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Literal

import anyio
from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.orm import Session

from shared import clock
from shared.db.accounts import Account
from shared.db.delay_alerts import DelayAlert
from shared.db.phones import is_proved, list_proved
from shared.db.runs import COMPLETE, RunResult
from shared.domain.delay_alerts import Episode, follow_episode, reaches, sort_by_severity
from shared.domain.watch_answers import is_overtaken
from shared.outbox.enqueue import Phone, tell
from shared.providers import registry
from shared.providers.ask import Ask
from shared.providers.contract import AirportDelay, DelaysQuestion, Reading
from shared.reference.load import reference
from shared.secrets import unseal
from shared.settings import settings

VERB = "airport_delays"
STALE = timedelta(minutes=30)  # older readings of a source say nothing about now
AT_ONCE = 4
SECONDS = 60.0  # for one run; remaining airports come first in the next
PHONES = ("sms", "whatsapp")
Reach = Literal["covered", "silent", "not_covered", "not_configured"]
Readings = list[Reading[tuple[AirportDelay, ...]]]


@dataclass(frozen=True)
class Report:
    """The report of one airport's source."""

    asked_at: datetime
    source: str
    delays: tuple[AirportDelay, ...]


async def _ask(ask: Ask, airport: str) -> Readings:
    """Asks until a source answers, those without a key before those paid by the call."""
    fresh = timedelta(seconds=settings().delay_check_interval_seconds / 2)
    readings: Readings = []
    for card in sorted(registry.providers_of(VERB), key=lambda card: card.credential != "none"):
        readings.append(await ask.one(card.name, VERB, DelaysQuestion(airport), fresh))
        if _is_believable(readings[-1]):
            break
    return readings


def _is_believable(reading: Reading[Any]) -> bool:
    looked = reading.provider_checked_at
    return reading.has_answer and (looked is None or clock.now() - looked <= STALE)


async def find_coverage(ask: Ask, airport: str) -> Reach:
    """Whether any source covers this airport's delays; `silent` is one that does not answer now."""
    readings = await _ask(ask, airport)
    statuses = {reading.status for reading in readings if not _is_believable(reading)}
    if any(map(_is_believable, readings)):
        return "covered"
    if statuses - {"not_covered", "not_configured"}:
        return "silent"
    return "not_covered" if "not_covered" in statuses else "not_configured"


def _watching() -> ColumnElement[bool]:
    """Alerts that are on, of accounts that are not suspended."""
    suspended = select(Account.id).where(Account.disabled_at.is_not(None))
    return and_(DelayAlert.active, DelayAlert.paused_at.is_(None), DelayAlert.account_id.not_in(suspended))


def airports(session: Session) -> list[str]:
    """Airports with active alerts, the longest unchecked first."""
    waiting = select(DelayAlert.airport).where(_watching())
    oldest = func.min(DelayAlert.last_checked_at).asc().nulls_first()
    return list(session.scalars(waiting.group_by(DelayAlert.airport).order_by(oldest, DelayAlert.airport)))


async def query_sources(airport_codes: Sequence[str]) -> dict[str, Report]:
    """Asks about each airport once. An airport without a credible answer is absent: its state is unknown."""
    reports: dict[str, Report] = {}
    places = anyio.CapacityLimiter(AT_ONCE)

    async def one(airport: str) -> None:
        async with places:
            asked_at = clock.now()
            readings = await _ask(Ask(background=True), airport)
        if readings and _is_believable(readings[-1]):
            reports[airport] = Report(asked_at, readings[-1].source, readings[-1].value or ())

    with anyio.move_on_after(SECONDS):
        async with anyio.create_task_group() as tasks:
            for airport in airport_codes:
                tasks.start_soon(one, airport)
    return reports


def settle(session: Session, run_id: int, reports: Mapping[str, Report]) -> RunResult:
    """Writes the episodes of all alerts of these airports; each person hears of an airport once."""
    watching = select(DelayAlert).where(DelayAlert.airport.in_(list(reports)), _watching())
    rows = session.scalars(watching.order_by(DelayAlert.id).with_for_update()).all()
    firing = [row for row in rows if _fires(row, reports[row.airport])]
    firing.sort(key=lambda row: (row.account_id, row.airport, row.id))
    for (account_id, airport), alerts in groupby(firing, key=lambda row: (row.account_id, row.airport)):
        account = session.get_one(Account, account_id)
        _tell(session, account, list(alerts), reports[airport], f"delay:{account_id}:{airport}:{run_id}")
    return COMPLETE


def _fires(alert: DelayAlert, report: Report) -> bool:
    """Applies the report; an answer overtaken by a later one changes nothing."""
    if is_overtaken(report.asked_at, alert.last_checked_at):
        return False
    before = Episode(alert.episode_since, alert.episode_level or 0) if alert.episode_since else None
    now, fires = follow_episode(before, report.delays, alert.min_delay_minutes, report.asked_at)
    alert.episode_since, alert.episode_level = (now.since, now.level) if now else (None, None)
    alert.last_checked_at = report.asked_at
    if fires:
        alert.last_triggered_at = report.asked_at
    return fires


def _tell(session: Session, account: Account, alerts: Sequence[DelayAlert], report: Report, key: str) -> None:
    least = min(alert.min_delay_minutes for alert in alerts)
    proved = list_proved(session, account.id)
    unproved = _ask_for_proof(alerts, proved)
    worth = sort_by_severity(delay for delay in report.delays if reaches(delay, least))
    airport = alerts[0].airport
    airport_row = reference().airports.get(airport)
    tell(
        session,
        account,
        "delay_alert",
        {
            "airport": airport,
            "airport_name": airport_row.name if airport_row else airport,
            "delays": [_row(delay, report.source) for delay in worth],
            "alerts": [[alert.id, alert.label] for alert in alerts],
            "unproved": unproved,
        },
        dedupe_key=key,
        subject=("delay_alert", alerts[0].id),
        mail=bool(unproved) or any("email" in alert.channels for alert in alerts),
        phones=_phones(alerts, proved),
        by_channels=True,
    )


def _row(delay: AirportDelay, source: str) -> dict[str, Any]:
    """The report as it may be shown: some sources forbid showing their minutes."""
    return {
        "kind": delay.kind,
        "minutes": delay.shown_minutes,
        "reason": delay.reason,
        "ends_at": delay.ends_at,
        "source": source,
    }


def list_unproved_channels(alert: DelayAlert, proved: Collection[str]) -> list[str]:
    """The alert's channels that wait until its number is proved; `proved` is from `list_proved`."""
    texts = [channel for channel in alert.channels if channel in PHONES]
    return [] if alert.phone_sealed and is_proved(alert.phone_sealed, proved) else texts


def _ask_for_proof(alerts: Iterable[DelayAlert], proved: Collection[str]) -> list[str]:
    """The endings of unproved numbers that no message about their alert has named yet."""
    asking = [row for row in alerts if row.proof_asked_at is None and list_unproved_channels(row, proved)]
    for alert in asking:
        alert.proof_asked_at = clock.now()
    return sorted({alert.phone_ending for alert in asking if alert.phone_ending})


def _phones(alerts: Iterable[DelayAlert], proved: Collection[str]) -> list[Phone]:
    """Each proved number once per channel, however many alerts name it."""
    phones: dict[tuple[str, str | None], Phone] = {}
    for alert in alerts:
        if alert.phone_sealed and alert.phone_ending and not list_unproved_channels(alert, proved):
            number = unseal(settings().encryption_keys, alert.phone_sealed)
            for channel in alert.channels:
                if channel in PHONES:
                    phones.setdefault((channel, number), Phone(channel, alert.phone_sealed, alert.phone_ending))
    return list(phones.values())
