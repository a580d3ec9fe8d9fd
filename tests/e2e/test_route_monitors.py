"""A monitor made by a tool and a seat opened on purpose lead to one mail and one notice, and to no second ones."""

import email
import os
import signal
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.policy import default
from pathlib import Path

import pytest
from redis import Redis

from shared.domain.dates import format_iso_day
from tests.e2e.conftest import Call
from tests.support.service import Service, wait_for

Seats = Callable[[str, str], None]


@pytest.fixture
def seats(service: Service) -> Iterator[Seats]:
    """seats(place, "open" or "shut"): what the sandbox answers for ORIGIN-DESTINATION|DATE|CABIN."""
    redis = Redis.from_url(service.facts["redis_url"])

    def tell(place: str, state: str) -> None:
        redis.hset("award:sandbox:overrides", place, state)

    yield tell
    redis.delete("award:sandbox:overrides")
    redis.close()


def _mails(service: Service) -> list[EmailMessage]:
    files = sorted(Path(service.facts["outbox_dir"]).glob("*.eml"))
    return [email.message_from_bytes(f.read_bytes(), policy=default) for f in files]  # type: ignore[misc]


def _day(ahead: int) -> str:
    return str(datetime.now(UTC).date() + timedelta(days=ahead))


Watch = Callable[..., tuple[int, Callable[[int], bool]]]


@pytest.fixture
def watch(call: Call) -> Iterator[Watch]:
    """watch(day, cabin) -> the monitor's id, and whether it has been checked so many times; cancelled afterwards."""
    made: list[int] = []

    def begin(day: str, cabin: str) -> tuple[int, Callable[[int], bool]]:
        window = {"earliest_date": day, "latest_date": day}
        told = call("create_route_monitor", origin="LHR", destination="JFK", cabin=cabin, airlines=["BA"], **window)
        assert (told["status"], told["monitor"]["state"]) == ("ok", "active"), told
        monitor_id, seen = told["monitor"]["monitor_id"], set[str]()
        made.append(monitor_id)

        def checked(times: int) -> bool:
            seen.update(c["checked_at"] for c in call("get_route_monitor", monitor_id=monitor_id)["checks"])
            return len(seen) >= times

        return monitor_id, checked

    yield begin
    for monitor_id in made:
        call("cancel_route_monitor", monitor_id=monitor_id)


def _told(service: Service, day: str) -> list[EmailMessage]:
    written = format_iso_day(day)
    return [m for m in _mails(service) if written in m.get_body(("plain",)).get_content()]  # type: ignore[union-attr]


@pytest.mark.slow  # the checks come once a second, and the mail must stay the only one through several
@pytest.mark.spec("s6.2.route_monitor_email", "s3.route_monitor.created_active")
def test_a_seat_that_opens_is_mailed_once(service: Service, call: Call, seats: Seats, watch: Watch) -> None:
    day = _day(60)
    seats(f"LHR-JFK|{day}|business", "shut")
    monitor_id, checked = watch(day, "business")
    wait_for("a check that finds nothing", lambda: checked(1))
    assert _told(service, day) == []
    seats(f"LHR-JFK|{day}|business", "open:2")
    wait_for("the mail", lambda: _told(service, day))
    wait_for("more checks", lambda: checked(5))
    (mail,) = _told(service, day)
    assert mail["To"] == "traveller@example.test"
    assert mail["Subject"].startswith("[SANDBOX]")
    with_subject = [
        n for n in call("list_notifications")["notifications"] if n["subject"]
    ]  # security notices have none
    notices = [n for n in with_subject if str(n["subject"]["id"]) == str(monitor_id)]
    assert len(notices) == 1
    assert {m["date"] for m in call("get_route_monitor", monitor_id=monitor_id)["matches"]} == {day}


@pytest.mark.slow  # killed programs have to come back first
def test_killed_workers_and_a_killed_queue_lose_no_mail_and_send_none_twice(
    service: Service, seats: Seats, watch: Watch
) -> None:
    day = _day(61)
    seats(f"LHR-JFK|{day}|economy", "shut")
    _, checked = watch(day, "economy")
    wait_for("a check that finds nothing", lambda: checked(1))
    seats(f"LHR-JFK|{day}|economy", "open:2")
    pids = service.pids
    for name in pids:
        if "worker" in name or "dispatcher" in name:
            os.kill(pids[name], signal.SIGKILL)
    wait_for("the mail", lambda: _told(service, day))
    wait_for("more checks", lambda: checked(5))
    assert len(_told(service, day)) == 1
