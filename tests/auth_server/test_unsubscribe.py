"""The link at the foot of a mail turns off that kind of mail: with a button for people, with one POST for programs."""

import html
import re
from urllib.parse import urlsplit

import pytest
from starlette.testclient import TestClient

from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.delay_alerts import DelayAlert
from shared.db.profile import MAILS, find_addressee
from shared.outbox import links
from shared.settings import settings
from tests.auth_server.in_process_browser import Browser

ONE_CLICK = {"List-Unsubscribe": "One-Click"}


def link(who: Browser, kind: str) -> str:
    parts = urlsplit(links.unsubscribe_url(who.public_id, kind))
    return f"{parts.path}?{parts.query}"


def read_switches(who: Browser) -> dict[str, bool]:
    with transaction() as session:
        return find_addressee(session, session.query(Account).filter_by(public_id=who.public_id).one().id).mail_switches


def delay_alert(who: Browser, *channels: str) -> int:
    with transaction() as session:
        account = session.query(Account).filter_by(public_id=who.public_id).one()
        row = DelayAlert(
            account_id=account.id, airport="JFK", channels=list(channels), min_delay_minutes=30, active=True
        )
        session.add(row)
        session.flush()
        return row.id


@pytest.mark.parametrize("kind", ["route_monitors", "flight_alerts", "standing_orders"])
def test_opening_the_link_changes_nothing_and_the_button_turns_that_kind_off(ann: Browser, kind: str) -> None:
    page = ann.get(link(ann, kind))
    assert page.status_code == 200
    assert read_switches(ann) == MAILS
    action = re.search(r'<form method="post" action="([^"]+)"', page.text)
    assert action is not None
    done = ann.post(html.unescape(action[1]), {})
    assert done.status_code == 200
    assert "unsubscribed" in done.text
    assert read_switches(ann) == MAILS | {kind: False}


def test_who_comes_again_reads_that_the_mails_are_off_and_can_take_it_back(ann: Browser) -> None:
    path = link(ann, "flight_alerts")
    ann.post(path, {})
    again = ann.get(path).text
    assert "You are unsubscribed" in again
    assert 'href="/dashboard/settings"' in again
    undo = re.search(r'<form method="post" action="([^"]+)"', again)
    assert undo is not None
    done = ann.post(html.unescape(undo[1]), {})
    assert (done.status_code, done.headers["location"]) == (303, path)
    assert read_switches(ann) == MAILS
    assert "No more mails of this kind?" in ann.get(path).text


def test_only_a_link_of_ours_turns_mails_on_and_only_a_kind_with_a_switch(host: TestClient, ann: Browser) -> None:
    good = link(ann, "flight_alerts").replace("/unsubscribe", "/unsubscribe/undo")
    ann.post(link(ann, "flight_alerts"), {})
    bad = [good[:-1] + ("0" if good[-1] != "0" else "1"), "/unsubscribe/undo", "/unsubscribe/undo?token=.."]
    bad.append(link(ann, "delay_alerts").replace("/unsubscribe", "/unsubscribe/undo"))
    assert [host.post(path).status_code for path in bad] == [410] * len(bad)
    assert read_switches(ann)["flight_alerts"] is False


@pytest.mark.parametrize("form", [{"data": ONE_CLICK}, {"files": {"List-Unsubscribe": (None, "One-Click")}}, {}])
def test_a_mail_program_needs_one_post_and_no_cookie(
    host: TestClient, ann: Browser, bob: Browser, form: dict[str, object]
) -> None:
    answer = host.post(link(ann, "flight_alerts"), **form)  # type: ignore[arg-type]
    assert answer.status_code == 200
    assert (read_switches(ann)["flight_alerts"], read_switches(bob)["flight_alerts"]) == (False, True)
    assert host.post(link(ann, "flight_alerts"), **form).status_code == 200  # type: ignore[arg-type]


def test_a_link_made_for_another_account_or_kind_opens_nothing(host: TestClient, ann: Browser, bob: Browser) -> None:
    good = link(ann, "flight_alerts")
    bad = [
        good.replace("flight_alerts", "route_monitors"),
        good.replace(ann.public_id, bob.public_id),
        good[:-1] + ("0" if good[-1] != "0" else "1"),
        link(ann, "nonsense"),
        "/unsubscribe",
        "/unsubscribe?token=",
        "/unsubscribe?token=flight_alerts",
        "/unsubscribe?token=..",
    ]
    assert [host.post(path).status_code for path in bad] == [410] * len(bad)
    assert {host.get(path).status_code for path in bad} == {410}
    assert read_switches(ann) == read_switches(bob) == MAILS


def test_a_link_outlives_a_new_key_and_dies_with_the_key_it_was_made_with(
    host: TestClient, ann: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = link(ann, "flight_alerts")
    monkeypatch.setenv("SECRET_KEYS", f"newer-key-0123456789abcdef,{settings().encryption_keys[0]}")
    settings.cache_clear()
    assert host.get(old).status_code == 200
    monkeypatch.setenv("SECRET_KEYS", "newer-key-0123456789abcdef")
    settings.cache_clear()
    assert host.get(old).status_code == 410
    monkeypatch.undo()
    settings.cache_clear()


def test_delay_alerts_stop_mailing_and_those_to_phones_go_on(host: TestClient, ann: Browser, bob: Browser) -> None:
    only, both, his = delay_alert(ann, "email"), delay_alert(ann, "email", "sms"), delay_alert(bob, "email")
    assert "are paused" in host.get(link(ann, "delay_alerts")).text
    done = host.post(link(ann, "delay_alerts"))
    assert (done.status_code, "stands in your inbox" in done.text) == (200, False)
    with transaction() as session:
        rows = {id: session.get_one(DelayAlert, id) for id in (only, both, his)}
        assert (rows[only].active, rows[both].active, rows[his].active) == (False, True, True)
        assert rows[both].channels == ["sms"]


def test_the_link_of_a_closed_account_opens_nothing(host: TestClient, ann: Browser) -> None:
    with transaction() as session:
        session.delete(session.query(Account).filter_by(public_id=ann.public_id).one())
    assert host.post(link(ann, "flight_alerts")).status_code == 410
