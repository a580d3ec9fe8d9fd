"""Phone numbers on the settings page: a code proves them, within limits, and neither code nor number lies open."""

import logging
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from auth_server.accounts.phones import MAX_NUMBERS
from auth_server.pages.account import export_account
from auth_server.sweep import sweep
from jobs import deliver
from shared import clock
from shared.db.accounts import Account, absorb
from shared.db.base import transaction
from shared.db.delay_alerts import DelayAlert
from shared.db.messages import Delivery, Notification
from shared.db.phones import PhoneNumber, hash_number, is_proved, list_proved
from shared.db.security_events import SecurityEvent
from shared.domain.phone_numbers import parse_phone_number
from shared.secrets import seal, unseal
from shared.settings import settings
from tests.auth_server.in_process_browser import Browser
from tests.auth_server.mailbox import Mails, text
from tests.auth_server.test_dashboard import csrf
from tests.auth_server.test_sweep import whole_database
from tests.shared.outbox.conftest import phones  # noqa: F401 - a fixture
from tests.support.fake_sms import Carrier
from tests.support.settings_and_clock import Configure

PAGE = "/dashboard/settings/phones"
NUMBER, OTHER = "+14155550123", "+447700900456"
Later = Callable[[timedelta], None]


@pytest.fixture
def carrier(phones: Carrier) -> Carrier:  # noqa: F811
    return phones


def find_id(who: Browser) -> int:
    with transaction() as session:
        return session.scalars(select(Account.id).where(Account.public_id == who.public_id)).one()


def change_account(who: Browser, **values: Any) -> None:
    with transaction() as session:
        session.execute(update(Account).where(Account.public_id == who.public_id).values(**values))


@pytest.fixture
def ann(ann: Browser, carrier: Carrier) -> Browser:
    """Signed in, on the Premium plan."""
    change_account(ann, plan="premium")
    ann.sign_in()
    return ann


def post(who: Browser, action: str = "", **fields: str) -> Any:
    """One of the forms of the page; the token of each is on it, or made as that of the first."""
    return who.post(PAGE + action, {"csrf": csrf(who, PAGE, PAGE + action)} | fields)


def ask(who: Browser, number: str = NUMBER, channel: str = "sms") -> Any:
    return post(who, number=number, channel=channel)


def send_all() -> None:
    """The workers' part."""
    with transaction() as session:
        open_ones = (Delivery.status == "pending", Delivery.channel.in_(("sms", "whatsapp")))
        ids = session.scalars(select(Delivery.id).where(*open_ones)).all()
    for id in ids:
        deliver.wake(str(id))


def read_code(carrier: Carrier) -> str:
    """The code of the last message, once it is sent."""
    send_all()
    code = re.search(r"\b\d{6}\b", carrier.posted[-1]["Body"])
    assert code is not None, carrier.posted
    return code[0]


def list_rows() -> list[PhoneNumber]:
    with transaction() as session:
        return list(session.scalars(select(PhoneNumber).order_by(PhoneNumber.id)))


def enter(who: Browser, code: str) -> Any:
    return post(who, "/prove", phone_id=str(list_rows()[-1].id), code=code)


def spoil(code: str) -> str:
    """Another code."""
    return f"{(int(code) + 1) % 10**6:06}"


def read_fault(answer: Any) -> str:
    fault = re.search(r'role="alert">([^<]+)<', answer.text)
    return fault[1] if fault is not None else ""


def prove(who: Browser, carrier: Carrier, number: str = NUMBER) -> None:
    assert ask(who, number).status_code == 303
    assert enter(who, read_code(carrier)).headers["location"] == f"{PAGE}?done=phone_added"


def add_alert(who: Browser, number: str = NUMBER) -> int:
    with transaction(find_id(who)) as session:
        sealed = {"phone_sealed": seal(settings().encryption_keys[0], number), "phone_ending": number[-3:]}
        row = DelayAlert(airport="JFK", channels=["sms"], min_delay_minutes=30, active=True, **sealed)
        session.add(row)
        session.flush()
        return row.id


# --- proving


def test_a_code_sent_to_the_number_proves_it(ann: Browser, carrier: Carrier, mails: Mails) -> None:
    assert ask(ann, "+1 (415) 555-0123").headers["location"] == f"{PAGE}?done=code_sent"
    assert "Enter the code for the number ending in 123" in ann.get(PAGE).text
    code = read_code(carrier)
    (message,) = carrier.posted
    assert (message["To"], message["ValidityPeriod"]) == (NUMBER, "600")
    assert message["Body"].startswith(f"{code} is your Award Travel code for this number. It works for 10 minutes.")
    assert enter(ann, f" {code[:3]} {code[3:]} ").headers["location"] == f"{PAGE}?done=phone_added"
    (row,) = list_rows()
    assert (row.proved_at, row.code_hash) == (clock.now(), None)
    assert "Number ending in 123" in ann.get(PAGE).text
    assert "You have 1 proved number." in ann.get("/dashboard/settings").text
    with transaction() as session:
        proved = list_proved(session, row.account_id)
        (event,) = session.scalars(select(SecurityEvent).where(SecurityEvent.kind == "phone_added"))
        (notice,) = session.scalars(select(Notification).where(Notification.title == "A phone number was added"))
    assert is_proved(seal(settings().encryption_keys[0], NUMBER), proved)
    assert not is_proved(seal(settings().encryption_keys[0], OTHER), proved)
    assert event.subject == "the number ending in 123"
    assert "Alerts can now be sent to the number ending in 123." in notice.body
    (mail,) = [m for m in mails() if m["Subject"] == "A phone number was added"]
    assert "/not-me?token=" in text(mail)


def test_a_code_can_come_by_whatsapp_in_a_template_of_its_own(
    ann: Browser, carrier: Carrier, configure: Configure
) -> None:
    assert 'value="whatsapp"' not in ann.get(PAGE).text
    assert read_fault(ask(ann, channel="whatsapp")) == "Please choose how the code is sent."
    configure(TWILIO_WHATSAPP_CODE_CONTENT_SID="HX2")
    assert 'value="whatsapp"' in ann.get(PAGE).text
    assert ask(ann, channel="whatsapp").status_code == 303
    send_all()
    (message,) = carrier.posted
    assert (message["To"], message["ContentSid"]) == (f"whatsapp:{NUMBER}", "HX2")
    code = re.fullmatch(r'\{"1": "(\d{6})"\}', message["ContentVariables"])
    assert code is not None
    assert enter(ann, code[1]).status_code == 303
    assert list_rows()[0].proved_at


def test_neither_code_nor_number_can_be_read_in_database_or_logs(
    ann: Browser, carrier: Carrier, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    ask(ann)
    waiting = whole_database()
    code = read_code(carrier)
    sent = whole_database()
    enter(ann, spoil(code))
    enter(ann, code)
    logged = "\n".join(r.getMessage() for r in caplog.records if not r.name.startswith(("httpx", "sqlalchemy")))
    for place in (waiting, sent, whole_database(), logged):
        assert re.findall(rf"\b{code}\b|4155550123", place) == []
    (row,) = list_rows()
    assert unseal(settings().encryption_keys, row.number_sealed) == NUMBER
    with transaction() as session:
        assert [d.facts for d in session.scalars(select(Delivery).where(Delivery.event == "phone_code"))] == [{}]


def test_a_wrong_code_is_told_and_what_was_typed_stays(ann: Browser, carrier: Carrier) -> None:
    ask(ann)
    code = read_code(carrier)
    answer = enter(ann, spoil(code))
    assert (answer.status_code, read_fault(answer)) == (422, "The code is wrong. You have 4 tries left.")
    assert f'value="{spoil(code)}"' in answer.text
    assert read_fault(enter(ann, "12345")) == "Please enter the 6 digits of the code."
    assert read_fault(enter(ann, "١٢٣٤٥٦")) == "Please enter the 6 digits of the code."
    assert list_rows()[0].code_tries == 1
    assert enter(ann, code).status_code == 303


def test_five_wrong_codes_end_it_even_for_the_right_one(ann: Browser, carrier: Carrier) -> None:
    ask(ann)
    code = read_code(carrier)
    faults = [read_fault(enter(ann, spoil(code))) for _ in range(5)]
    assert faults[3] == "The code is wrong. You have 1 try left."
    assert faults[4] == "The code is wrong, and it was the last try. Ask for a new code."
    assert read_fault(enter(ann, code)) == "5 wrong codes were entered. Ask for a new code."
    assert not list_rows()[0].proved_at
    id = str(list_rows()[0].id)
    assert post(ann, "/code", phone_id=id, channel="sms").headers["location"] == f"{PAGE}?done=code_sent"
    assert enter(ann, read_code(carrier)).status_code == 303
    assert list_rows()[0].proved_at


def test_guesses_made_at_once_are_counted_each(ann: Browser, carrier: Carrier) -> None:
    ask(ann)
    code, token = read_code(carrier), csrf(ann, PAGE, f"{PAGE}/prove")
    fields = {"csrf": token, "phone_id": str(list_rows()[0].id), "code": spoil(code)}
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ann.post(f"{PAGE}/prove", fields), range(12)))
    assert {a.status_code for a in answers} == {422}
    assert list_rows()[0].code_tries == 5


def test_a_code_works_for_ten_minutes_and_the_last_one_alone(ann: Browser, carrier: Carrier, later: Later) -> None:
    ask(ann)
    first = read_code(carrier)
    later(timedelta(minutes=10, seconds=1))
    assert read_fault(enter(ann, first)) == "The code is older than 10 minutes. Ask for a new one."
    ask(ann)
    second = read_code(carrier)
    assert read_fault(enter(ann, first)).startswith("The code is wrong.")
    later(timedelta(minutes=10))
    assert enter(ann, second).status_code == 303


def test_a_code_that_was_not_sent_within_ten_minutes_is_sent_no_more(
    ann: Browser, carrier: Carrier, later: Later
) -> None:
    ask(ann)
    with transaction() as session:
        session.execute(update(Delivery).values(created_at=clock.now()))
        (id,) = session.scalars(select(Delivery.id).where(Delivery.channel == "sms"))
    later(timedelta(minutes=10, seconds=1))
    deliver.wake(str(id))
    assert carrier.posted == []
    assert "The code could not be delivered." in ann.get(PAGE).text


def test_a_code_that_the_carrier_refuses_is_told_on_the_page(ann: Browser, carrier: Carrier) -> None:
    carrier.refuse(400, 21610)
    alert = add_alert(ann)
    ask(ann)
    send_all()
    assert "The code could not be delivered." in ann.get(PAGE).text
    with transaction() as session:
        (notice,) = session.scalars(select(Notification).where(Notification.kind == "account"))
        assert session.get_one(DelayAlert, alert).channels == ["sms"]
    assert notice.body.endswith("asked the carrier for no more messages; an answer START allows them.")


@pytest.mark.parametrize("keys", ["new,old", "new"])
def test_a_number_stays_proved_as_long_as_its_key_is_known(
    ann: Browser, carrier: Carrier, configure: Configure, keys: str
) -> None:
    prove(ann, carrier)
    sealed, old = seal(settings().encryption_keys[0], NUMBER), settings().encryption_keys[0]
    configure(SECRET_KEYS=keys.replace("new", "another-key-0123456789abcdef").replace("old", old))
    with transaction() as session:
        assert is_proved(sealed, list_proved(session, list_rows()[0].account_id)) is ("old" in keys)
    assert hash_number(NUMBER)[0] != list_rows()[0].number_hash


# --- numbers of alerts, and removal


def test_a_number_of_an_alert_is_offered_and_proved_by_one_button(ann: Browser, carrier: Carrier) -> None:
    alert = add_alert(ann)
    add_alert(ann)
    page = ann.get(PAGE).text
    assert page.count("of delay alert") == 1
    assert "4155550123" not in page
    assert post(ann, "/code", alert_id=str(alert), channel="sms").status_code == 303
    assert carrier.posted == []
    code = read_code(carrier)
    assert carrier.posted[0]["To"] == NUMBER
    assert "of delay alert" not in ann.get(PAGE).text
    assert enter(ann, code).status_code == 303


def test_a_removed_number_is_unproved_and_its_owner_hears_of_it(ann: Browser, carrier: Carrier, mails: Mails) -> None:
    prove(ann, carrier)
    assert post(ann, "/remove", phone_id=str(list_rows()[0].id)).headers["location"] == f"{PAGE}?done=phone_removed"
    assert list_rows() == []
    assert "A phone number was removed" in [m["Subject"] for m in mails()]


def test_nobody_touches_a_number_or_an_alert_of_another_account(ann: Browser, bob: Browser, carrier: Carrier) -> None:
    prove(ann, carrier, OTHER)
    alert = add_alert(ann)
    ask(ann)
    code, hers = read_code(carrier), str(list_rows()[-1].id)
    change_account(bob, plan="premium")
    bob.sign_in()
    ask(bob, "+14155550999")
    gone = f"{PAGE}?done=phone_gone"
    assert post(bob, "/prove", phone_id=hers, code=code).headers["location"] == gone
    assert post(bob, "/code", phone_id=hers, channel="sms").headers["location"] == gone
    assert post(bob, "/code", alert_id=str(alert), channel="sms").headers["location"] == gone
    assert post(bob, "/remove", phone_id=hers).status_code == 303
    assert "ending in 123" not in bob.get(PAGE).text
    assert len(list_rows()) == 3
    assert not list_rows()[1].proved_at


@pytest.mark.parametrize("id", ["", "x", "-1", "9" * 40, "٣"])
def test_an_id_that_is_none_finds_nothing(ann: Browser, id: str) -> None:
    ask(ann)
    for action in ("/prove", "/code", "/remove"):
        assert post(ann, action, phone_id=id, alert_id=id, code="123456", channel="sms").status_code == 303
    assert len(list_rows()) == 1


# --- limits, and who may ask


@pytest.mark.parametrize(
    "number",
    ["", "0207 946 0123", "4155550123", "+0123456789", "+12345", "+1234567890123456", "+1415555012x", "+١٤١٥٥٥٥٠١٢٣"],
)
def test_what_is_no_number_is_told_and_stays_in_the_field(ann: Browser, number: str) -> None:
    answer = ask(ann, number)
    assert (answer.status_code, "This is no phone number." in read_fault(answer)) == (422, True)
    assert f'value="{number}"' in answer.text
    assert list_rows() == []


def test_what_people_put_between_the_digits_is_no_part_of_a_number() -> None:
    texts = (
        "+44 7700 900456",
        "+44(7700)900-456",
        "+44.7700.900.456",
        "\u202a+447700900456\u202c",
        " +44/7700/900456 ",
    )
    assert {parse_phone_number(typed) for typed in texts} == {OTHER}


def test_a_number_gets_three_codes_an_hour_whoever_asks(
    ann: Browser, bob: Browser, carrier: Carrier, later: Later
) -> None:
    change_account(bob, plan="premium")
    bob.sign_in()
    assert [ask(who).status_code for who in (ann, bob, ann)] == [303, 303, 303]
    for who in (bob, ann):
        answer = ask(who)
        assert read_fault(answer) == "A number gets at most 3 codes an hour. Please try again in 60 minutes."
        assert f'value="{NUMBER}"' in answer.text
    send_all()
    assert len(carrier.posted) == 3
    assert ask(ann, OTHER).status_code == 303
    later(timedelta(hours=1))
    assert ask(bob).status_code == 303


def test_an_account_gets_ten_codes_a_day_and_has_ten_numbers(ann: Browser, carrier: Carrier, later: Later) -> None:
    numbers = [f"+1415555{n:04}" for n in range(MAX_NUMBERS + 2)]
    assert [ask(ann, number).status_code for number in numbers[:11]] == [303] * 10 + [422]
    assert read_fault(ask(ann, numbers[10])) == "You have 10 numbers. Remove one first."
    post(ann, "/remove", phone_id=str(list_rows()[0].id))
    assert read_fault(ask(ann, numbers[10])) == "An account gets at most 10 codes a day. Please try again in 12 hours."
    later(timedelta(hours=12))
    assert ask(ann, numbers[10]).status_code == 303


def test_the_whole_service_sends_so_many_codes_a_day(
    ann: Browser, bob: Browser, carrier: Carrier, configure: Configure
) -> None:
    configure(PHONE_CODES_PER_DAY=2)
    change_account(bob, plan="premium")
    bob.sign_in()
    assert [ask(ann, NUMBER).status_code, ask(bob, OTHER).status_code] == [303, 303]
    refused = ask(bob, "+14155550999")
    assert read_fault(refused) == "This service sends at most 2 codes a day. Please try again in 12 hours."
    assert len(list_rows()) == 2
    configure(PHONE_CODES_PER_DAY=3)  # what was refused has counted nowhere
    assert [ask(bob, "+14155550999").status_code for _ in range(2)] == [303, 422]


@pytest.mark.parametrize(
    ("columns", "environment", "sentence"),
    [
        ({}, {"TWILIO_AUTH_TOKEN": ""}, "This service sends no text messages: its operator has not set that up."),
        ({}, {"SANDBOX_ALLOW_MESSAGES": "0"}, "This service sends no text messages"),
        ({"plan": "free"}, {}, "Alerts to a phone are part of the Premium plan."),
        ({"email_confirmed_at": None}, {}, "Please confirm your email address first."),
    ],
)
def test_where_no_code_can_be_asked_for_the_page_says_why(
    ann: Browser,
    carrier: Carrier,
    configure: Configure,
    columns: dict[str, Any],
    environment: dict[str, str],
    sentence: str,
) -> None:
    ask(ann, OTHER)
    alert, token = add_alert(ann), csrf(ann, PAGE, PAGE)
    if columns:
        change_account(ann, **columns)
    configure(**environment)
    page = ann.get(PAGE)
    assert (page.status_code, sentence in page.text) == (200, True)
    assert f'action="{PAGE}"' not in page.text
    assert f'action="{PAGE}/code"' not in page.text
    answer = ann.post(PAGE, {"csrf": token, "number": NUMBER, "channel": "sms"})
    assert (answer.status_code, len(list_rows())) == (422, 1)
    assert ann.post(PAGE, {"csrf": token, "alert_id": str(alert), "channel": "sms"}).status_code == 422
    send_all()
    assert len(carrier.posted) <= 1


# --- what becomes of the rows


def test_an_export_holds_the_endings_and_no_secret(ann: Browser, carrier: Carrier) -> None:
    prove(ann, carrier)
    with transaction() as session:
        (row,) = export_account(session, list_rows()[0].account_id)["phone_numbers"]
    assert set(row) == {"id", "account_id", "phone_ending", "code_sent_at", "code_tries", "proved_at", "created_at"}


def test_numbers_move_with_a_claim_and_go_with_the_account(ann: Browser, bob: Browser, carrier: Carrier) -> None:
    change_account(bob, plan="premium")
    bob.sign_in()
    for who in (ann, bob):
        ask(who)
    ask(ann, OTHER)
    first, second = find_id(ann), find_id(bob)
    with transaction() as session:
        absorb(session, first, second)
    assert {(row.account_id, row.phone_ending) for row in list_rows()} == {(second, "123"), (second, "456")}
    with transaction() as session:
        session.delete(session.get_one(Account, second))
    assert list_rows() == []


def test_a_number_nobody_proved_goes_after_a_day(ann: Browser, carrier: Carrier, later: Later) -> None:
    prove(ann, carrier, OTHER)
    ask(ann)
    later(timedelta(days=1))
    sweep()
    assert len(list_rows()) == 2
    later(timedelta(seconds=1))
    sweep()
    assert [row.phone_ending for row in list_rows()] == ["456"]
