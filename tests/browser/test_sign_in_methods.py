"""Passkeys and codes in a real browser with its own virtual authenticator, up to an application's code."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from auth_server.accounts.accounts import create_account
from shared.db.base import transaction
from shared.http import sync_client
from tests.auth_server.in_process_browser import PASSWORD, VERIFIER, query
from tests.auth_server.test_totp import App
from tests.browser.judges import look_everywhere
from tests.browser.test_pages import judged
from tests.support.browser import Tab

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # starts a browser

METHODS = "/dashboard/sign-in-methods"
EMAIL = "ann@example.test"


class Device:
    """The virtual authenticator of the browser's protocol: it has a screen lock, and the person is there."""

    def __init__(self, tab: Tab) -> None:
        self.tab = tab
        tab._ask("WebAuthn.enable")
        options = {
            "protocol": "ctap2",
            "transport": "internal",
            "hasResidentKey": True,
            "hasUserVerification": True,
            "isUserVerified": True,
        }
        self.id = tab._ask("WebAuthn.addVirtualAuthenticator", options=options)["authenticatorId"]

    def credentials(self) -> list[dict[str, Any]]:
        return list(self.tab._ask("WebAuthn.getCredentials", authenticatorId=self.id)["credentials"])

    def refuse(self) -> None:
        """From now on the finger is the wrong one."""
        self.tab._ask("WebAuthn.setUserVerified", authenticatorId=self.id, isUserVerified=False)


@pytest.fixture
def site(places: tuple[str, str]) -> tuple[str, str]:
    """The web host by its name, under which passkeys exist, and the application's callback."""
    base, application = places
    with transaction() as session:
        create_account(session, EMAIL, PASSWORD)
    return base.replace("127.0.0.1", "localhost"), f"{application}/callback"


@pytest.fixture
def device(tab: Tab) -> Device:
    return Device(tab)


def enter_password(tab: Tab) -> None:
    tab.wait("document.title.startsWith('Sign in ')")
    tab.fill("email", EMAIL)
    tab.fill("password", PASSWORD)
    tab.press("button.primary")


def sign_in(tab: Tab, base: str) -> None:
    tab.go(f"{base}/signin")
    enter_password(tab)
    tab.wait("document.title.startsWith('Home')")


def sign_out(tab: Tab) -> None:
    tab.press("footer form button")
    tab.wait("location.pathname === '/'")


def add_passkey(tab: Tab, base: str) -> None:
    """Ends at the list of methods."""
    tab.go(f"{base}{METHODS}/passkey")
    tab.wait("document.title.startsWith('Add a passkey') && !document.querySelector('form[data-passkey]').hidden")
    tab.fill("name", "my laptop")
    tab.press("button.primary")
    tab.wait("document.title.startsWith('Your recovery codes')")
    assert tab.run("document.querySelectorAll('.codes li').length") == 10
    tab.press("main a.button")
    tab.wait("document.body.innerText.includes('my laptop')")


def set_up_app(tab: Tab, base: str) -> App:
    tab.go(f"{base}{METHODS}/app")
    tab.wait("document.querySelector('svg.qr')")
    app = App(str(tab.run("document.querySelector('pre code').innerText")).replace(" ", ""))
    tab.fill("code", app.show(-1))  # so that the present one is unused
    tab.press("button.primary")
    tab.wait("document.title.startsWith('Your recovery codes')")
    return app


def press_passkey(tab: Tab) -> None:
    tab.wait("document.querySelector('form.passkey') && !document.querySelector('form.passkey').hidden")
    tab.press("form.passkey button")


def register(base: str, uri: str) -> tuple[str, str]:
    """A client, and the address of its authorization request."""
    with sync_client(base.replace("localhost", "127.0.0.1")) as client:
        client_id = client.post("/oauth/register", json={"redirect_uris": [uri]}).json()["client_id"]
    return client_id, f"{base}/oauth/authorize?{urlencode(query(client_id, redirect_uri=uri))}"


def allow_and_redeem(tab: Tab, base: str, client_id: str, uri: str) -> int:
    """From the consent page to the application; the status of its request for tokens."""
    tab.wait("document.title.startsWith('Allow access')")
    tab.press("button[value=allow]")
    tab.wait("document.title === 'application'")
    code = dict(parse_qsl(urlsplit(tab.run("location.href")).query))["code"]
    fields = {"grant_type": "authorization_code", "code": code, "redirect_uri": uri, "client_id": client_id}
    with sync_client(base.replace("localhost", "127.0.0.1")) as client:
        return client.post("/oauth/token", data=fields | {"code_verifier": VERIFIER}).status_code


def test_a_passkey_is_added_and_signs_in_without_typing(tab: Tab, site: tuple[str, str], device: Device) -> None:
    base, uri = site
    sign_in(tab, base)
    add_passkey(tab, base)
    (credential,) = device.credentials()
    assert (credential["isResidentCredential"], credential["rpId"]) == (True, "localhost")
    sign_out(tab)
    tab.go(f"{base}/signin")
    press_passkey(tab)
    tab.wait("document.title.startsWith('Home')")
    sign_out(tab)
    client_id, address = register(base, uri)
    tab.go(address)
    press_passkey(tab)
    assert allow_and_redeem(tab, base, client_id, uri) == 200


def test_the_chain_goes_on_after_password_and_code(tab: Tab, site: tuple[str, str]) -> None:
    base, uri = site
    sign_in(tab, base)
    app = set_up_app(tab, base)
    tab.press("footer form button")
    tab.wait("location.pathname === '/'")
    client_id, address = register(base, uri)
    tab.go(address)
    enter_password(tab)
    tab.wait("document.title.startsWith('One more step')")
    tab.wait("document.activeElement.name === 'code'")  # a browser gives the focus a moment after it has loaded
    tab.fill("code", "000000")
    tab.press("button.primary")
    tab.wait("document.body.innerText.includes('The code is wrong')")
    tab.fill("code", app.show())
    tab.press("button.primary")
    assert allow_and_redeem(tab, base, client_id, uri) == 200


def test_a_passkey_is_the_second_step_after_the_password(tab: Tab, site: tuple[str, str], device: Device) -> None:
    base, uri = site
    sign_in(tab, base)
    add_passkey(tab, base)
    sign_out(tab)
    client_id, address = register(base, uri)
    tab.go(address)
    enter_password(tab)
    tab.wait("document.title.startsWith('One more step')")
    press_passkey(tab)
    assert allow_and_redeem(tab, base, client_id, uri) == 200


def test_whoever_is_not_verified_stays_outside_and_is_told(tab: Tab, site: tuple[str, str], device: Device) -> None:
    base, _ = site
    sign_in(tab, base)
    add_passkey(tab, base)
    sign_out(tab)
    device.refuse()
    tab.go(f"{base}/signin")
    press_passkey(tab)
    tab.wait("document.querySelector('[data-fault]').innerText.includes('Please try again')")
    assert tab.run("document.querySelector('form.passkey button').disabled") is False


def test_a_name_that_will_not_do_leaves_no_passkey_behind(tab: Tab, site: tuple[str, str], device: Device) -> None:
    base, _ = site
    sign_in(tab, base)
    tab.go(f"{base}{METHODS}/passkey")
    tab.wait("document.querySelector('form[data-passkey]') && !document.querySelector('form[data-passkey]').hidden")
    tab.fill("name", " ")
    tab.press("button.primary")
    tab.wait("document.querySelector('[data-fault]').innerText.includes('visible characters')")
    assert device.credentials() == []


def test_by_an_address_without_a_name_the_page_says_where_passkeys_work(tab: Tab, site: tuple[str, str]) -> None:
    base = site[0].replace("localhost", "127.0.0.1")
    sign_in(tab, base)
    tab.go(f"{base}{METHODS}/passkey")
    tab.wait(f"document.body.innerText.includes('at the address {site[0]}')")
    assert tab.run("document.querySelector('form[data-passkey]').hidden") is True
    tab.go(f"{base}/signin")
    tab.wait("document.title.startsWith('Sign in ')")
    assert tab.run("document.querySelector('form.passkey').hidden") is True


def test_the_pages_of_sign_in_methods_fit_and_can_be_read(
    tab: Tab, site: tuple[str, str], device: Device, tmp_path: Path
) -> None:
    base, _ = site
    sign_in(tab, base)
    seen = judged(tab, base + METHODS)
    seen += judged(tab, f"{base}{METHODS}/passkey")
    add_passkey(tab, base)
    seen += judged(tab, f"{base}{METHODS}/app")
    tab.fill("code", "000000")
    tab.press("button.primary")
    tab.wait("document.querySelector('#code-fault')")
    seen += look_everywhere(tab)
    app = App(str(tab.run("document.querySelector('pre code').innerText")).replace(" ", ""))
    tab.fill("code", app.show())
    tab.press("button.primary")
    tab.wait(f"location.pathname === '{METHODS}'")
    seen += look_everywhere(tab)
    tab.press("form[action$='recovery-codes'] button")
    tab.wait("document.title.startsWith('Your recovery codes')")
    seen += look_everywhere(tab)
    sign_out(tab)
    tab.go(f"{base}/signin")
    enter_password(tab)
    tab.wait("document.title.startsWith('One more step')")
    seen += look_everywhere(tab)
    tab.run("document.querySelector('details').open = true")
    tab.fill("code", "000000")
    tab.press("button.primary")
    tab.wait("document.querySelector('#code-fault')")
    seen += look_everywhere(tab)
    assert seen == []
