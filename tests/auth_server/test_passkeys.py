"""Passkeys: registered under a name, used without typing, bound to origin, person and challenge, and removed."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from auth_server.accounts import passkeys
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.security_events import SecurityEvent
from shared.db.sign_in_methods import Passkey, RecoveryCode
from shared.domain.dates import format_weekday
from tests.auth_server.in_process_browser import Browser, hidden
from tests.auth_server.mailbox import Mails, text
from tests.auth_server.software_authenticator import BE, BS, UP, UV, Authenticator, decode, encode
from tests.auth_server.test_dashboard import send

PATH = "/dashboard/sign-in-methods"
NEW = f"{PATH}/passkey"


def registration_options(browser: Browser, name: str = "x") -> dict[str, Any]:
    page = browser.get(NEW).text
    csrf = re.search(r'data-csrf="([^"]*)"', page)
    assert csrf is not None, page
    options: dict[str, Any] = browser.post(f"{NEW}/options", {"csrf": csrf[1], "name": name}).json()
    return options


def add(browser: Browser, authenticator: Authenticator, name: str = "my phone", **changed: Any) -> Any:
    credential = authenticator.create(registration_options(browser), **changed)
    return send(browser, NEW, NEW, name=name, credential=credential)


def sign_in_options(browser: Browser, page: str = "/signin", step: str = "first") -> dict[str, Any]:
    answer = browser.post("/signin/passkey/options", {"csrf": hidden(browser.get(page).text, "csrf"), "step": step})
    assert answer.status_code == 200, answer.text
    options: dict[str, Any] = answer.json()
    return options


def enter(browser: Browser, authenticator: Authenticator, return_to: str = "", **changed: Any) -> Any:
    """Signs in with the passkey alone."""
    credential = authenticator.get(sign_in_options(browser), **changed)
    return submit(browser, credential, return_to)


def submit(browser: Browser, credential: str, return_to: str = "") -> Any:
    csrf = hidden(browser.get("/signin").text, "csrf")
    return browser.post("/signin/passkey", {"csrf": csrf, "return_to": return_to, "credential": credential})


def stored() -> Passkey:
    with transaction() as session:
        row = session.scalars(select(Passkey)).one()
        session.expunge(row)
    return row


@pytest.fixture
def phone(ann: Browser) -> Authenticator:
    """A passkey of ann, who is signed out again."""
    ann.sign_in()
    authenticator = Authenticator()
    assert add(ann, authenticator).status_code == 200
    ann.cookie = None
    return authenticator


def test_a_passkey_is_registered_and_signs_in_without_typing(ann: Browser, mails: Mails) -> None:
    ann.sign_in()
    authenticator = Authenticator()
    options = registration_options(ann)
    assert options["authenticatorSelection"] == {
        "residentKey": "required",
        "requireResidentKey": True,
        "userVerification": "required",
    }
    assert (options["rp"]["id"], decode(options["user"]["id"]).decode()) == ("localhost", ann.public_id)
    assert ann.email not in decode(options["user"]["id"]).decode()
    page = send(ann, NEW, NEW, name="my phone", credential=authenticator.create(options))
    assert len(re.findall(r"<li><code>[0-9a-z-]{19}</code>", page.text)) == 10
    assert "my phone" in ann.get(PATH).text
    (mail,) = mails()
    assert "passkey \u201cmy phone\u201d can now be used" in " ".join(text(mail).split())
    ann.cookie = None
    entered = enter(ann, authenticator, "/dashboard/keys")
    assert (entered.status_code, entered.headers["location"]) == (303, "/dashboard/keys")
    assert f"last used on {format_weekday(clock.today())}" in ann.get(PATH).text


def test_nothing_secret_is_needed_to_verify(ann: Browser, phone: Authenticator) -> None:
    row = stored()
    assert (row.public_key, row.transports) == (phone.credentials[0].public_key(), ["hybrid", "internal"])


def test_a_stranger_learns_of_no_passkey(ann: Browser, phone: Authenticator, stranger: Browser) -> None:
    for step in ("first", "second"):
        assert sign_in_options(stranger, step=step).get("allowCredentials", []) == []
    unknown = Authenticator()
    unknown.create({"user": {"id": encode(ann.public_id.encode())}, "challenge": "x"})
    answers = [enter(stranger, unknown), enter(stranger, phone, signature=encode(b"x"))]
    assert [answer.status_code for answer in answers] == [401, 401]
    pages = [re.sub(r'value="[^"]*"|csrf="[^"]*"', "", answer.text) for answer in answers]
    assert pages[0] == pages[1]


@pytest.mark.parametrize(
    "changed",
    [
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:8000"},
        {"origin": "https://localhost:8000"},
        {"rp_id": "evil.example"},
        {"flags": UP},
        {"flags": UV},
        {"flags": 0},
        {"flags": UP | UV | BS},
        {"flags": UP | UV | BE},
    ],
    ids=str,
)
def test_only_this_site_and_a_verified_person_count(
    ann: Browser, phone: Authenticator, changed: dict[str, Any]
) -> None:
    vars(phone).update(changed)
    assert enter(ann, phone).status_code == 401
    assert ann.get("/dashboard").status_code == 302
    assert stored().sign_count == 1


@pytest.mark.parametrize(
    "changed", [{"origin": "http://evil.example"}, {"rp_id": "evil.example"}, {"flags": UP}], ids=str
)
def test_a_passkey_made_elsewhere_or_without_the_person_is_refused(ann: Browser, changed: dict[str, Any]) -> None:
    ann.sign_in()
    answer = add(ann, Authenticator(**changed))
    assert (answer.status_code, "was not accepted" in answer.text) == (422, True)
    with transaction() as session:
        assert session.scalars(select(Passkey)).all() == []


def test_a_challenge_works_once(ann: Browser, phone: Authenticator) -> None:
    ann.get("/signin")
    credential = phone.get(sign_in_options(ann))
    planted = ann.cookie
    assert submit(ann, credential).status_code == 303
    ann.cookie = planted
    assert submit(ann, credential).status_code == 401


def test_a_challenge_is_good_for_five_minutes_in_its_own_session(
    ann: Browser, bob: Browser, phone: Authenticator, later: Any
) -> None:
    theirs = phone.get(sign_in_options(ann))
    sign_in_options(bob)
    assert submit(bob, theirs).status_code == 401
    later(timedelta(minutes=5))
    assert submit(ann, theirs).status_code == 401
    fresh = phone.get(sign_in_options(ann))
    later(timedelta(minutes=4))
    assert submit(ann, fresh).status_code == 303


def test_challenges_asked_for_at_once_do_not_meet(ann: Browser, phone: Authenticator) -> None:
    for _ in range(4):
        ann.cookie = None
        csrf = hidden(ann.get("/signin").text, "csrf")
        twins = [Browser(ann.host) for _ in range(4)]
        for twin in twins:
            twin.cookie = ann.cookie
        with ThreadPoolExecutor(4) as pool:
            form = {"csrf": csrf, "step": "first"}
            answers = list(pool.map(lambda twin, form=form: twin.post("/signin/passkey/options", form), twins))
        assert [answer.status_code for answer in answers] == [200] * 4
        tried = [submit(ann, phone.get(answer.json())).status_code for answer in answers]
        assert tried.count(303) <= 1


def test_a_challenge_of_registration_signs_nobody_in(ann: Browser, phone: Authenticator) -> None:
    enter(ann, phone)
    options = registration_options(ann)
    assert submit(ann, phone.get(options)).status_code == 401


def test_a_copied_authenticator_is_noticed_by_its_counter(ann: Browser, phone: Authenticator) -> None:
    assert enter(ann, phone).status_code == 303
    assert stored().sign_count == 2
    ann.cookie = None
    phone.credentials[0].count = 1
    assert enter(ann, phone).status_code == 401
    phone.credentials[0].count = 7
    assert enter(ann, phone).status_code == 303
    assert stored().sign_count == 8


def test_a_passkey_without_counter_goes_on_working(ann: Browser) -> None:
    ann.sign_in()
    manager = Authenticator(counts=False, flags=UP | UV | BE | BS)
    add(ann, manager)
    assert (stored().backup_eligible, stored().backed_up) == (True, True)
    assert "copied to your other devices" in ann.get(PATH).text
    for _ in range(2):
        ann.cookie = None
        assert enter(ann, manager).status_code == 303
    manager.flags = UP | UV | BE
    ann.cookie = None
    assert enter(ann, manager).status_code == 303
    assert (stored().backup_eligible, stored().backed_up) == (True, False)


def test_a_passkey_opens_its_own_account_alone(ann: Browser, bob: Browser, phone: Authenticator) -> None:
    assert enter(ann, phone, userHandle=encode(bob.public_id.encode())).status_code == 401
    assert enter(bob, phone).status_code == 303
    assert ann.email in bob.get(PATH.replace("sign-in-methods", "account")).text


def test_a_suspended_account_stays_outside_and_its_owner_reads_why(ann: Browser, phone: Authenticator) -> None:
    with transaction() as session:
        session.execute(update(Account).values(disabled_at=Account.created_at))
    refused = enter(ann, phone)
    assert (refused.status_code, "This account is suspended" in refused.text) == (403, True)
    assert ann.get("/dashboard").status_code == 302
    forged = enter(ann, phone, signature=encode(b"x"))
    assert (forged.status_code, "suspended" in forged.text) == (401, False)


def test_the_same_passkey_is_not_registered_twice(ann: Browser, bob: Browser, phone: Authenticator) -> None:
    enter(ann, phone)
    (excluded,) = registration_options(ann)["excludeCredentials"]
    assert decode(excluded["id"]) == phone.credentials[0].id
    bob.sign_in()
    options = registration_options(bob)
    first = phone.credentials[0]
    credential = json.loads(phone.create(options))
    facts = decode(credential["response"]["attestationObject"]).replace(phone.credentials[1].id, first.id)
    name = encode(first.id)
    credential |= {"id": name, "rawId": name, "response": credential["response"] | {"attestationObject": encode(facts)}}
    assert send(bob, NEW, NEW, name="stolen", credential=json.dumps(credential)).status_code == 422
    assert stored().account_id != 0


def test_a_removed_passkey_opens_nothing_and_nobody_removes_anothers(
    ann: Browser, bob: Browser, phone: Authenticator
) -> None:
    bob.sign_in()
    add(bob, Authenticator())
    with transaction() as session:
        (row,) = session.scalars(select(Passkey).where(Passkey.credential_id == encode(phone.credentials[0].id)))
        passkey_id = str(row.id)
    for wrong in (passkey_id, "0", "-1", "x", "9" * 30, "\u0663"):
        assert send(bob, PATH, f"{NEW}/remove", passkey_id=wrong).status_code == 303
    assert enter(ann, phone).status_code == 303
    send(ann, PATH, f"{NEW}/remove", passkey_id=passkey_id)
    ann.cookie = None
    assert enter(ann, phone).status_code == 401
    with transaction() as session:
        kinds = list(session.scalars(select(SecurityEvent.kind).order_by(SecurityEvent.id)))
        assert session.scalars(select(RecoveryCode).where(RecoveryCode.account_id == row.account_id)).all() == []
    assert kinds == ["factor_added", "factor_added", "factor_removed"]


@pytest.mark.parametrize(
    "credential",
    [
        "",
        "x",
        "[]",
        "null",
        "[" * 5000,
        "{}",
        '{"id": 7, "rawId": "", "type": "public-key", "response": 1}',
        '{"id": "eA", "rawId": "eA", "type": "public-key", "response": {}}',
        '{"id": "eA", "rawId": "eA", "type": "public-key", "response": {"clientDataJSON": 1}}',
    ],
    ids=range(9),
)
def test_whatever_a_browser_sends_is_refused_with_a_page(ann: Browser, credential: str) -> None:
    sign_in_options(ann)
    assert submit(ann, credential).status_code == 401
    ann.sign_in()
    registration_options(ann)
    assert send(ann, NEW, NEW, name="x", credential=credential).status_code == 422


@pytest.mark.slow  # a hundred requests
def test_noise_in_every_part_of_an_answer_is_refused_with_a_page(ann: Browser, phone: Authenticator) -> None:
    import random

    chance = random.Random(16)
    enter(ann, phone)
    for number in range(60):
        good = json.loads(phone.create(registration_options(ann)) if number % 2 else phone.get(sign_in_options(ann)))
        names = ["attestationObject", "clientDataJSON"] if number % 2 else ["authenticatorData", "signature"]
        name = chance.choice(names)
        noise = bytearray(decode(good["response"][name]))
        noise[chance.randrange(len(noise))] ^= 1 << chance.randrange(8)
        good["response"][name] = encode(bytes(noise[: chance.choice([1, 40, None])]))
        if number % 2:
            assert send(ann, NEW, NEW, name="x", credential=json.dumps(good)).status_code in (200, 303, 422)
        else:
            assert submit(ann, json.dumps(good)).status_code == 401


def test_twenty_passkeys_are_the_most(ann: Browser, phone: Authenticator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passkeys, "MAX_PASSKEYS", 1)
    enter(ann, phone)
    answer = add(ann, phone)
    assert (answer.status_code, "which is the most" in answer.text) == (422, True)


def test_a_passkey_needs_a_name(ann: Browser) -> None:
    ann.sign_in()
    answer = add(ann, Authenticator(), name=" ")
    assert (answer.status_code, 'id="name-fault"' in answer.text) == (422, True)
    assert "1 to 100 visible characters" in registration_options(ann, " ")["error"]


@pytest.mark.parametrize(
    ("web_url", "party"),
    [
        ("https://travel.example", ("travel.example", "https://travel.example")),
        ("https://travel.example:8443", ("travel.example", "https://travel.example:8443")),
        ("https://travel.example:443", ("travel.example", "https://travel.example")),
        ("http://localhost:8000", ("localhost", "http://localhost:8000")),
        ("http://127.0.0.1:8000", ("localhost", "http://localhost:8000")),
        ("http://[::1]:8000", ("localhost", "http://localhost:8000")),
        ("https://203.0.113.9", None),
    ],
)
def test_the_relying_party_is_the_web_host(configure: Any, web_url: str, party: tuple[str, str] | None) -> None:
    configure(WEB_URL=web_url)
    assert passkeys.find_relying_party() == party


def test_without_a_host_name_passkeys_are_not_offered(ann: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    ann.sign_in()
    monkeypatch.setattr(passkeys, "find_relying_party", lambda: None)
    assert "/signin/passkey" not in ann.get("/signin").text
    assert "Passkeys need a host name" in ann.get(NEW).text


def test_scripts_run_on_the_pages_that_need_them_alone(ann: Browser) -> None:
    ann.sign_in()
    with_script = {path for path in ("/", "/signin", "/signup", PATH, NEW) if _allows_script(ann, path)}
    assert with_script == {"/signin", NEW}
    script = ann.get("/static/passkeys.js")
    assert script.headers["content-type"].startswith("text/javascript")


def _allows_script(browser: Browser, path: str) -> bool:
    answer = browser.get(path)
    policy = answer.headers["content-security-policy"]
    assert ("<script" in answer.text) == ("script-src 'self'" in policy)
    assert "unsafe" not in policy
    return "script-src" in policy
