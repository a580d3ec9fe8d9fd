"""A monitor made by a tool, a seat opened on purpose: one mail and one notice come out, and no second ones."""

import email
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from tests.e2e.conftest import Call
from tests.running import Service, wait_for


@pytest.fixture
def seats(service: Service) -> Iterator[Any]:
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


def _day() -> date:
    return datetime.now(UTC).date() + timedelta(days=60)


@pytest.mark.slow  # the checks come once a second, and the mail must stay the only one through several
@pytest.mark.spec("s6.2.route_monitor_email", "s3.route_monitor.created_active")
def test_a_seat_that_opens_is_mailed_once(service: Service, call: Call, seats: Any) -> None:
    place, day = f"LHR-JFK|{_day()}|business", str(_day())
    seats(place, "shut")
    terms = {"origin": "LHR", "destination": "JFK", "earliest_date": day, "latest_date": day, "cabin": "business"}
    made = call("create_route_monitor", **terms, airlines=["BA"])
    assert (made["status"], made["monitor"]["state"]) == ("ok", "active")
    monitor_id, checked = made["monitor"]["monitor_id"], set()

    def checks(atleast: int) -> bool:
        checked.update(c["checked_at"] for c in call("get_route_monitor", monitor_id=monitor_id)["checks"])
        return len(checked) >= atleast

    def told() -> list[EmailMessage]:
        return [m for m in _mails(service) if "JFK" in m["Subject"]]

    wait_for("a check that finds nothing", lambda: checks(1), 20)
    assert told() == []
    seats(place, "open:2")
    wait_for("the mail", told, 20)
    wait_for("more checks", lambda: checks(len(checked) + 3), 20)
    (mail,) = told()
    assert mail["To"] == "traveller@example.test"
    assert mail["Subject"].startswith("[SANDBOX]")
    assert day in mail.get_body(("plain",)).get_content()  # type: ignore[union-attr]
    notices = [
        n for n in call("list_notifications")["notifications"] if n["subject"]["id"] in (monitor_id, str(monitor_id))
    ]
    assert len(notices) == 1
    details = call("get_route_monitor", monitor_id=monitor_id)
    assert {m["date"] for m in details["matches"]} == {day}
    assert call("cancel_route_monitor", monitor_id=monitor_id)["monitor"]["state"] == "cancelled"
