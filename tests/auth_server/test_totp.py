"""The second factor: codes of an app and recovery codes, each good once, limited, and never the only way in."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pyotp
import pytest
import zxingcpp
from PIL import Image
from sqlalchemy import select
from starlette.testclient import TestClient

from auth_server.accounts import password_guesses
from auth_server.accounts.one_time_codes import draw_qr_code
from auth_server.accounts.recovery_codes import NUMBER
from auth_server.accounts.signin import SignInAttempts
from shared import clock
from shared.db.base import transaction
from shared.db.security_events import SecurityEvent
from shared.db.sign_in_methods import AuthenticatorApp
from shared.secrets import unseal
from shared.settings import settings
from tests.auth_server.in_process_browser import BASE, PASSWORD, Browser, hidden
from tests.auth_server.mailbox import Mails, link, text
from tests.auth_server.software_authenticator import Authenticator
from tests.auth_server.test_dashboard import send
from tests.auth_server.test_passkeys import add, enter, sign_in_options
from tests.auth_server.test_sweep import whole_database
from tests.support.service import PATIENCE

PATH = "/dashboard/sign-in-methods"
NEW = f"{PATH}/app"
SECOND = "/signin/second"
Later = Callable[[timedelta], None]


class App:
    """The authenticator app on ann's phone."""

    def __init__(self, secret: str) -> None:
        self.secret = secret

    def show(self, steps: int = 0) -> str:
        return pyotp.TOTP(self.secret).at(int(clock.now().timestamp()) + 30 * steps)


def read_secret(page: str) -> str:
    key = re.search(r"<pre><code>([A-Z2-7 ]+)</code>", page)
    assert key is not None, page
    return key[1].replace(" ", "")


def read_codes(page: str) -> list[str]:
    return re.findall(r"<li><code>([0-9a-z-]{19})</code>", page)


def set_up(browser: Browser) -> tuple[App, list[str]]:
    """An app of a signed-in person, and the recovery codes shown with it."""
    page = browser.get(NEW).text
    app = App(read_secret(page))
    answer = browser.post(NEW, form_of(page) | {"code": app.show()})
    assert answer.status_code == 200, answer.text
    return app, read_codes(answer.text)


def form_of(page: str) -> dict[str, str]:
    return {"csrf": hidden(page.split(f'action="{NEW}"')[1], "csrf"), "setup": hidden(page, "setup")}


def second(browser: Browser, code: str, way: str = "code") -> Any:
    """Answers the page of the second factor."""
    page = browser.get(SECOND).text
    fields = {"csrf": hidden(page, "csrf"), "return_to": hidden(page, "return_to"), "code": code}
    return browser.post(f"{SECOND}/{way}", fields)


def is_in(browser: Browser) -> bool:
    return bool(browser.get("/dashboard").status_code == 200)


def kinds() -> list[str]:
    with transaction() as session:
        return list(session.scalars(select(SecurityEvent.kind).order_by(SecurityEvent.id)))


@pytest.fixture
def guarded(ann: Browser, later: Later) -> tuple[App, list[str]]:
    """ann with an app, signed out, a minute later."""
    ann.sign_in()
    result = set_up(ann)
    ann.cookie = None
    later(timedelta(minutes=1))
    return result


# --- setting up


def test_the_picture_and_the_text_hold_the_same_key(ann: Browser) -> None:
    ann.sign_in()
    page = ann.get(NEW).text
    address = _scan(page)
    assert urlsplit(address).scheme == "otpauth"
    facts = parse_qs(urlsplit(address).query)
    assert (facts["secret"], facts["issuer"]) == ([read_secret(page)], ["Award Travel"])
    assert "ann%40example.test" in address


def _scan(page: str) -> str:
    """What a phone reads off the SVG: its path drawn as squares."""
    page = page.partition("<main")[2]
    width = int(re.findall(r'viewBox="0 0 (\d+)', page)[0])
    picture = Image.new("L", (width, width), 255)
    path = re.findall(r'<path d="([^"]+)"', page)[0]
    for x, y, w, h in re.findall(r"M(\d+) (\d+)h(\d+)v(\d+)h-\d+Z", path):
        picture.paste(0, (int(x), int(y), int(x) + int(w), int(y) + int(h)))
    (code,) = zxingcpp.read_barcodes(picture.resize((width * 6, width * 6), Image.Resampling.NEAREST))
    return str(code.text)


def test_a_long_address_still_fits_into_the_picture() -> None:
    assert draw_qr_code("otpauth://totp/" + "w" * 300).width > 60


def test_the_app_is_on_once_a_code_was_right(ann: Browser, later: Later, mails: Mails) -> None:
    ann.sign_in()
    page = ann.get(NEW).text
    app = App(read_secret(page))
    wrong = ann.post(NEW, form_of(page) | {"code": "000000"})
    assert (wrong.status_code, "The code is wrong" in wrong.text) == (422, True)
    assert read_secret(wrong.text) == app.secret
    codes = read_codes(ann.post(NEW, form_of(wrong.text) | {"code": f" {app.show()[:3]} {app.show()[3:]}"}).text)
    assert (len(codes), len(set(codes))) == (NUMBER, NUMBER)
    assert not any(code in whole_database() or code.replace("-", "") in whole_database() for code in codes)
    assert app.secret not in whole_database()
    assert f"{NUMBER} left" in ann.get(PATH).text
    assert ann.get(NEW).headers["location"] == f"{PATH}?done=app_on"
    (mail,) = mails()
    assert "An authenticator app can now be used to sign in" in " ".join(text(mail).split())


def test_the_key_of_another_form_is_not_taken(ann: Browser, bob: Browser, later: Later) -> None:
    ann.sign_in()
    bob.sign_in()
    theirs = bob.get(NEW).text
    app, mine = App(read_secret(theirs)), ann.get(NEW).text
    planted = form_of(mine) | {"setup": hidden(theirs, "setup"), "code": app.show()}
    assert ann.post(NEW, planted).status_code == 422
    assert ann.post(NEW, planted | {"setup": "x"}).status_code == 422


def test_a_key_that_waited_for_a_new_sign_in_is_the_same_one(ann: Browser, later: Later) -> None:
    ann.sign_in()
    page = ann.get(NEW).text
    later(timedelta(minutes=11))
    refused = ann.post(NEW, form_of(page) | {"code": "123456"})
    again = ann.get(refused.headers["location"]).text
    back = ann.sign_in(return_to=hidden(again, "return_to"))
    assert read_secret(ann.get(back.headers["location"]).text) == read_secret(page)


def test_the_key_is_sealed_under_the_newest_key_when_a_code_is_used(
    ann: Browser, guarded: tuple[App, list[str]], configure: Any
) -> None:
    old = settings().encryption_keys[0]
    configure(SECRET_KEYS=f"{'n' * 40},{old}")
    ann.sign_in()
    assert second(ann, guarded[0].show()).status_code == 303
    with transaction() as session:
        sealed = session.scalars(select(AuthenticatorApp.secret_sealed)).one()
    assert unseal(["n" * 40], sealed) == guarded[0].secret


def test_a_key_nobody_can_open_leaves_the_recovery_codes(
    ann: Browser, guarded: tuple[App, list[str]], configure: Any
) -> None:
    configure(SECRET_KEYS="n" * 40)
    ann.sign_in()
    assert second(ann, guarded[0].show()).status_code == 401
    assert second(ann, guarded[1][0], "recovery").status_code == 303


# --- signing in


def test_the_password_alone_does_not_sign_in(ann: Browser, guarded: tuple[App, list[str]]) -> None:
    app, _ = guarded
    halfway = ann.sign_in(return_to="/dashboard/keys")
    assert halfway.headers["location"] == SECOND
    assert not is_in(ann)
    assert "ann@example.test" in ann.get(SECOND).text
    entered = second(ann, app.show())
    assert (entered.status_code, entered.headers["location"]) == (303, "/dashboard/keys")
    assert is_in(ann)


def test_a_wrong_password_shows_no_second_step(ann: Browser, bob: Browser, guarded: tuple[App, list[str]]) -> None:
    strip = re.compile(r'(value|data-csrf)="[^"]*"')
    with_app, without = (strip.sub("", b.sign_in(password="not this one").text) for b in (ann, bob))
    assert with_app == without


def test_the_first_step_counts_for_ten_minutes(ann: Browser, guarded: tuple[App, list[str]], later: Later) -> None:
    app, _ = guarded
    ann.sign_in()
    page = ann.get(SECOND).text
    fields = {"csrf": hidden(page, "csrf"), "return_to": "/dashboard/keys"}
    later(timedelta(minutes=10, seconds=1))
    late = ann.post(f"{SECOND}/code", fields | {"code": app.show()})
    assert (late.status_code, "within ten minutes" in late.text) == (401, True)
    assert hidden(late.text, "return_to") == "/dashboard/keys"
    assert "within ten minutes" in ann.get(SECOND).text
    assert not is_in(ann)


def test_the_first_step_is_worthless_to_whoever_planted_the_cookie(
    ann: Browser, guarded: tuple[App, list[str]]
) -> None:
    ann.get("/signin")
    thief = Browser(ann.host)
    thief.cookie = ann.cookie
    ann.sign_in()
    assert "One more step" in ann.get(SECOND).text
    assert "One more step" not in thief.get(SECOND).text


def test_the_first_step_of_one_person_is_no_step_of_another(
    ann: Browser, bob: Browser, guarded: tuple[App, list[str]], later: Later
) -> None:
    bob.sign_in()
    theirs, _ = set_up(bob)
    bob.cookie = None
    later(timedelta(minutes=1))
    ann.sign_in()
    assert second(ann, theirs.show()).status_code == 401
    assert second(ann, guarded[0].show()).status_code == 303


def test_a_new_password_ends_first_steps_made_with_the_old(ann: Browser, guarded: tuple[App, list[str]]) -> None:
    thief = Browser(ann.host, ann.email)
    thief.sign_in()
    ann.sign_in()
    second(ann, guarded[0].show())
    send(ann, "/dashboard/account", "/dashboard/account/password", current=PASSWORD, password="another good password")
    assert "One more step" not in thief.get(SECOND).text


def test_a_code_works_once_and_for_a_minute_and_a_half(ann: Browser, guarded: tuple[App, list[str]]) -> None:
    app, _ = guarded
    for steps, status in ((-2, 401), (2, 401), (-1, 303), (-1, 401), (1, 303), (0, 401)):
        ann.cookie = None
        ann.sign_in()
        assert second(ann, app.show(steps)).status_code == status, steps
    assert "has been used" in second(ann, app.show(1)).text


def test_the_code_that_turned_the_app_on_does_not_sign_in(ann: Browser) -> None:
    ann.sign_in()
    app, _ = set_up(ann)
    ann.cookie = None
    ann.sign_in()
    assert "has been used" in second(ann, app.show()).text


@pytest.mark.parametrize("code", ["", "x", "12345", "1234567", "\u0661" * 6, "0" * 4000])
def test_what_is_no_code_is_wrong(ann: Browser, guarded: tuple[App, list[str]], code: str) -> None:
    ann.sign_in()
    assert second(ann, code).status_code == 401


# --- recovery codes


def test_each_recovery_code_works_once_however_it_is_typed(
    ann: Browser, guarded: tuple[App, list[str]], mails: Mails
) -> None:
    _, codes = guarded
    typed = codes[0].replace("-", " ").upper().replace("0", "O").replace("1", "I")
    for status in (303, 401):
        ann.cookie = None
        ann.sign_in()
        assert second(ann, typed, "recovery").status_code == status
    assert "none of your unused" in second(ann, typed, "recovery").text
    second(ann, codes[1], "recovery")
    assert f"{NUMBER - 2} left" in ann.get(PATH).text
    assert "A recovery code was used" in [mail["Subject"] for mail in mails()][-1]


def test_new_recovery_codes_end_the_old(ann: Browser, guarded: tuple[App, list[str]]) -> None:
    app, codes = guarded
    ann.sign_in()
    second(ann, app.show())
    fresh = read_codes(send(ann, PATH, f"{PATH}/recovery-codes").text)
    assert len(fresh) == NUMBER
    ann.cookie = None
    ann.sign_in()
    assert second(ann, codes[0], "recovery").status_code == 401
    assert second(ann, fresh[0], "recovery").status_code == 303
    assert kinds()[-2:] == ["recovery_codes", "recovery_code_used"]


def test_recovery_codes_of_one_person_open_no_other_account(
    ann: Browser, bob: Browser, guarded: tuple[App, list[str]]
) -> None:
    bob.sign_in()
    _, theirs = set_up(bob)
    ann.sign_in()
    assert second(ann, theirs[0], "recovery").status_code == 401


def test_without_a_factor_there_are_no_recovery_codes(ann: Browser) -> None:
    ann.sign_in()
    page = ann.get(PATH).text
    assert "recovery-codes" not in page
    set_up(ann)
    csrf = re.search(rf'action="{PATH}/recovery-codes".*?value="([^"]*)"', ann.get(PATH).text, re.S)
    send(ann, PATH, f"{NEW}/remove")
    assert csrf is not None
    answer = ann.post(f"{PATH}/recovery-codes", {"csrf": csrf[1]})
    assert answer.headers["location"] == f"{PATH}?done=no_factor"


# --- limits


def test_wrong_codes_close_the_codes_and_leave_the_other_ways_open(
    ann: Browser, guarded: tuple[App, list[str]]
) -> None:
    app, codes = guarded
    ann.sign_in()
    answers = [second(ann, "000000") for _ in range(6)]
    assert [answer.status_code for answer in answers] == [401] * 5 + [429]
    assert "Use another way below" in answers[-1].text
    assert second(ann, app.show()).status_code == 429
    assert second(ann, codes[0], "recovery").status_code == 303


def test_whoever_knows_the_password_cannot_lock_the_owner_out(
    ann: Browser, guarded: tuple[App, list[str]], later: Later
) -> None:
    app, _ = guarded
    home = Browser(_at(ann, "192.0.2.1"), ann.email)
    home.sign_in()
    assert second(home, app.show()).status_code == 303
    for number in range(10):
        thief = Browser(_at(ann, f"198.51.100.{number}"), ann.email)
        thief.sign_in()
        second(thief, "000000")
    later(timedelta(seconds=60))
    elsewhere = Browser(_at(ann, "198.51.100.99"), ann.email)
    elsewhere.sign_in()
    assert second(elsewhere, app.show()).status_code == 429
    home.cookie = None
    home.sign_in()
    assert second(home, app.show()).status_code == 303


def _at(browser: Browser, peer: str) -> TestClient:
    return TestClient(browser.host.app, base_url=BASE, client=(peer, 1), follow_redirects=False)


@pytest.mark.slow  # signs in fifty times
def test_a_day_has_fifty_guesses_and_the_owner_hears_of_the_tenth(
    ann: Browser, guarded: tuple[App, list[str]], later: Later, mails: Mails
) -> None:
    guesses = 0
    for _ in range(12):
        for peer in ("198.51.100.1", "198.51.100.2"):
            thief = Browser(_at(ann, peer), ann.email)
            thief.sign_in()
            guesses += sum(second(thief, "000000").status_code == 401 for _ in range(6))
        later(timedelta(minutes=15))
    assert guesses == 50
    assert kinds().count("code_guesses") == 1
    assert "Wrong codes were entered" in [mail["Subject"] for mail in mails()][-1]


def _send_at_once(browsers: list[Browser], code: str, way: str = "code") -> list[int]:
    """The same code from browsers that wait for the second step, all at the same moment."""
    forms = [{"csrf": hidden(b.get(SECOND).text, "csrf"), "code": code} for b in browsers]
    with ThreadPoolExecutor(len(browsers)) as pool:
        answers = pool.map(lambda pair: pair[0].post(f"{SECOND}/{way}", pair[1]), zip(browsers, forms, strict=True))
        return sorted(answer.status_code for answer in answers)


def test_guesses_at_once_are_counted_like_guesses_in_a_row(ann: Browser, guarded: tuple[App, list[str]]) -> None:
    assert _send_at_once(_halfway(ann, 8), "000000") == [401] * 5 + [429] * 3


def test_one_code_at_once_in_four_places_signs_in_once(ann: Browser, guarded: tuple[App, list[str]]) -> None:
    app, codes = guarded
    assert _send_at_once(_halfway(ann, 4), app.show()) == [303, 401, 401, 401]
    assert _send_at_once(_halfway(ann, 4), codes[0], "recovery") == [303, 401, 401, 401]


def test_a_sign_in_button_pressed_twice_leads_to_the_second_step_twice(
    ann: Browser, guarded: tuple[App, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    both, check = Barrier(2), password_guesses.check_password

    def check_together(*arguments: Any) -> bool:
        both.wait(PATIENCE)
        return check(*arguments)

    monkeypatch.setattr(password_guesses, "check_password", check_together)
    for _ in range(3):
        ann.cookie = None
        fields = {"csrf": hidden(ann.get("/signin").text, "csrf"), "email": ann.email, "password": PASSWORD}
        twins = [Browser(ann.host), Browser(ann.host)]
        for twin in twins:
            twin.cookie = ann.cookie
        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(lambda twin, form=fields: twin.post("/signin", form), twins))
        assert [answer.headers.get("location") for answer in answers] == [SECOND] * 2


def _halfway(browser: Browser, number: int) -> list[Browser]:
    browsers = [Browser(browser.host, browser.email) for _ in range(number)]
    for one in browsers:
        one.sign_in()
    return browsers


# --- passkeys next to it


def test_a_passkey_is_a_second_factor_and_both_factors(ann: Browser, later: Later) -> None:
    ann.sign_in()
    phone = Authenticator()
    add(ann, phone)
    ann.cookie = None
    assert ann.sign_in(return_to="/dashboard/keys").headers["location"] == SECOND
    options = sign_in_options(ann, SECOND, "second")
    assert len(options["allowCredentials"]) == 1
    page = ann.get(SECOND).text
    assert "authenticator app</label>" not in page
    fields = {"csrf": hidden(page, "csrf"), "return_to": hidden(page, "return_to"), "step": "second"}
    wrong = ann.post("/signin/passkey", fields | {"credential": "x"})
    assert (wrong.status_code, "One more step" in wrong.text) == (401, True)
    options = sign_in_options(ann, SECOND, "second")
    entered = ann.post("/signin/passkey", fields | {"credential": phone.get(options)})
    assert (entered.status_code, entered.headers["location"]) == (303, "/dashboard/keys")
    ann.cookie = None
    assert enter(ann, phone).headers["location"] == "/dashboard"


def test_turning_the_app_off_asks_for_a_fresh_sign_in(
    ann: Browser, guarded: tuple[App, list[str]], later: Later
) -> None:
    app, _ = guarded
    ann.sign_in()
    second(ann, app.show())
    later(timedelta(minutes=11))
    refused = send(ann, PATH, f"{NEW}/remove")
    assert urlsplit(refused.headers["location"]).path == "/signin"
    again = ann.sign_in(return_to=hidden(ann.get(refused.headers["location"]).text, "return_to"))
    assert again.headers["location"] == SECOND
    back = second(ann, app.show()).headers["location"]
    assert back == f"{PATH}?done=again"
    send(ann, PATH, f"{NEW}/remove")
    ann.cookie = None
    assert ann.sign_in().headers["location"] == "/dashboard"
    assert kinds() == ["factor_added", "factor_removed"]


# --- links by mail


def test_a_reset_by_mail_still_asks_for_the_second_factor(
    ann: Browser, guarded: tuple[App, list[str]], mails: Mails
) -> None:
    _, codes = guarded
    ann.post("/recover", {"csrf": hidden(ann.get("/recover").text, "csrf"), "return_to": "", "email": ann.email})
    address = link(mails(1)[-1])
    page = ann.get(address).text
    fields = {"csrf": hidden(page, "csrf"), "token": hidden(page, "token"), "password": "another good password"}
    assert ann.post("/reset", fields).headers["location"] == SECOND
    assert not is_in(ann)
    assert second(ann, codes[3], "recovery").status_code == 303
    assert is_in(ann)


def _reset_by_mail(browser: Browser, mails: Mails) -> Any:
    browser.post(
        "/recover", {"csrf": hidden(browser.get("/recover").text, "csrf"), "return_to": "", "email": browser.email}
    )
    page = browser.get(link(mails(1)[-1])).text
    return browser.post("/reset", {name: hidden(page, name) for name in ("csrf", "token")} | {"password": PASSWORD})


@pytest.mark.parametrize("first", ["password", "mail"])
def test_an_address_counts_as_the_owners_once_the_second_factor_was_passed(
    ann: Browser, guarded: tuple[App, list[str]], mails: Mails, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    monkeypatch.setattr("auth_server.accounts.signin.PER_ACCOUNT", 6)
    peer = "192.0.2.1"
    cafe = Browser(TestClient(ann.host.app, base_url=BASE, client=(peer, 1), follow_redirects=False), ann.email)
    begun = cafe.sign_in() if first == "password" else _reset_by_mail(cafe, mails)
    assert begun.headers["location"] == SECOND
    for n in range(6):  # a stranger guesses
        SignInAttempts(ann.email, f"198.51.100.{n}").begin()
    assert not SignInAttempts(ann.email, peer).begin()
    assert second(cafe, guarded[0].show()).status_code == 303
    assert SignInAttempts(ann.email, peer).begin()


def test_this_was_not_me_ends_what_a_thief_has_added(
    ann: Browser, guarded: tuple[App, list[str]], later: Later, mails: Mails
) -> None:
    app, _ = guarded
    later(timedelta(days=31))
    ann.sign_in()
    second(ann, app.show())
    thief = Authenticator()
    add(ann, thief)
    codes = read_codes(send(ann, PATH, f"{PATH}/recovery-codes").text)
    (mail,) = [mail for mail in mails() if "passkey" in text(mail)]
    page = ann.get(link(mail)).text
    assert "added in the last 30 days stop working" in page
    ended = ann.post("/not-me", {"csrf": hidden(page, "csrf"), "token": hidden(page, "token")})
    assert "added in the last 30 days do not work any longer" in ended.text
    assert enter(ann, thief).status_code == 401
    with transaction() as session:
        assert len(session.scalars(select(AuthenticatorApp)).all()) == 1
    assert all(code not in whole_database() for code in codes)
    reset = ann.get(link(mails()[-1])).text
    fields = {"csrf": hidden(reset, "csrf"), "token": hidden(reset, "token"), "password": "another good password"}
    assert ann.post("/reset", fields).headers["location"] == SECOND
    assert second(ann, codes[0], "recovery").status_code == 401
    later(timedelta(minutes=1))
    assert second(ann, app.show()).status_code == 303
