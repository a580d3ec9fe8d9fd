"""`award-travel maintenance`: both servers answer with one sentence and jobs pause, until it is off again."""

import argparse
import json
import re
from datetime import UTC, datetime, timedelta

from deploy.errors import CommandError
from deploy.local.home import Home
from deploy.local.service import database
from deploy.operators.operator_actions import write_trail
from shared import clock
from shared.db.base import transaction
from shared.db.maintenance import (
    MAX_MESSAGE_CHARACTERS,
    Maintenance,
    begin_maintenance,
    end_maintenance,
    find_maintenance,
)
from shared.domain.dates import format_moment

TARGET = "service"  # of the trail
_SPAN = re.compile(r"(\d{1,4})([mh])")


def run_maintenance(arguments: argparse.Namespace) -> None:
    actions = {"on": _begin, "off": _end, "status": _show}
    with database(Home(arguments.home), tables=False):
        actions[arguments.action](arguments)


def parse_until(text: str) -> datetime:
    """`30m` or `2h` from now, or a moment of ISO 8601, UTC unless it says another. Raises CommandError."""
    if span := _SPAN.fullmatch(text):
        hours = {"m": 1 / 60, "h": 1}[span[2]] * int(span[1])
        return (clock.now() + timedelta(hours=hours)).replace(microsecond=0)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(f"--until {text}: write 30m, 2h, or a moment of UTC such as 2027-01-31T22:30.") from None
    moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    if moment <= clock.now():
        raise CommandError(f"--until {text}: that moment is over; it is {format_moment(clock.now())} now.")
    return moment


def _begin(arguments: argparse.Namespace) -> None:
    message = " ".join((arguments.message or "").split())
    if len(message) > MAX_MESSAGE_CHARACTERS or not message.isprintable():
        raise CommandError(f"--message is one line of at most {MAX_MESSAGE_CHARACTERS} characters.")
    until = parse_until(arguments.until) if arguments.until else None
    maintenance = Maintenance(clock.now(), message, until)
    with transaction() as session:
        begin_maintenance(session, maintenance)
        write_trail(session, arguments, "maintenance on", TARGET, maintenance.sentence)
    print(f"Maintenance is on. Within two seconds everybody is told: {maintenance.sentence}")


def _end(arguments: argparse.Namespace) -> None:
    with transaction() as session:
        if not end_maintenance(session):
            raise CommandError("Maintenance is off already.")
        write_trail(session, arguments, "maintenance off", TARGET)
    print("Maintenance is off: within two seconds the service answers again, and jobs go on.")


def _show(arguments: argparse.Namespace) -> None:
    with transaction() as session:
        maintenance = find_maintenance(session)
    if arguments.json:
        print(json.dumps(_encode(maintenance)))
    elif maintenance is None:
        print("Maintenance is off.")
    else:
        print(f"Maintenance is on since {format_moment(maintenance.since)}: {maintenance.sentence}")


def _encode(maintenance: Maintenance | None) -> dict[str, object]:
    if maintenance is None:
        return {"on": False, "since": None, "until": None, "message": None}
    until = maintenance.until and maintenance.until.isoformat()
    return {"on": True, "since": maintenance.since.isoformat(), "until": until, "message": maintenance.sentence}
