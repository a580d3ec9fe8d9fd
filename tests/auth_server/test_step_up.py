"""Step-up: what is dangerous asks for a sign-in of the last ten minutes, and leads back to where the person was."""

import re
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from sqlalchemy import select

from auth_server import app as routes
from auth_server.web import sessions
from shared.db.base import transaction
from shared.db.oauth import WebSession
from tests.auth_server.in_process_browser import PASSWORD, Browser, back, hidden
from tests.auth_server.software_authenticator import Authenticator
from tests.auth_server.test_dashboard import make_app, on_plan, send
from tests.auth_server.test_passkeys import add, enter, sign_in_options
from tests.auth_server.test_totp import SECOND, App, second, set_up

FORMS = [
    ("/dashboard/keys", "/dashboard/keys", {"name": "laptop"}),
    ("/dashboard/api-apps/new", "/dashboard/api-apps/new", {"name": "site", "redirect_uris": "https://site.example/b"}),
    ("/dashboard/account", "/dashboard/account/export", {}),
]
TEN = timedelta(minutes=10)


def address_of(response: Any) -> str:
    location: str = response.headers["location"]
    return location


def sign_in_again(browser: Browser, address: str, **changed: str) -> Any:
    """Follows a redirect to the sign-in page and fills it in."""
    page = browser.get(address).text
    fields = {"csrf": hidden(page, "csrf"), "return_to": hidden(page, "return_to"), "fresh": hidden(page, "fresh")}
    return browser.post("/signin", fields | {"email": browser.email, "password": PASSWORD} | changed)


@pytest.mark.parametrize(("page", "path", "fields"), FORMS, ids=["key", "application", "export"])
def test_a_form_asks_again_after_ten_minutes_and_not_before(
    ann: Browser, later: Any, page: str, path: str, fields: dict[str, str]
) -> None:
    on_plan("premium")
    ann.sign_in()
    later(TEN)
    assert send(ann, page, path, **fields).status_code == 200
    later(timedelta(seconds=1))
    refused = send(ann, page, path, **fields)
    assert refused.status_code == 303
    assert urlsplit(address_of(refused)).path == "/signin"
    signed_in = sign_in_again(ann, address_of(refused))
    assert urlsplit(address_of(signed_in)).path == page
    assert "Please press the button once more" in ann.get(address_of(signed_in)).text
    assert send(ann, page, path, **fields).status_code == 200


FRESH_FORMS = {
    "/dashboard/keys",
    "/dashboard/api-apps/new",
    "/dashboard/api-apps/rotate",
    "/dashboard/account/export",
    "/dashboard/account/delete",
}


def test_every_dangerous_form_asks_again(ann: Browser, later: Any) -> None:
    """Whatever stands on the page of sign-in methods, and the forms named here."""
    on_plan("premium")
    ann.sign_in()
    later(TEN * 2)
    methods = {route.path for route in routes.DASHBOARD if route.path.startswith("/dashboard/sign-in-methods/")}
    methods = {path for path in methods if "{" not in path}  # providers, which these tests have none of
    paths = {route.path for route in routes.DASHBOARD if route.methods == {"POST"}} & (methods | FRESH_FORMS)
    assert len(paths) >= 10
    for path in paths:
        with transaction() as session:
            (row,) = session.scalars(select(WebSession))
            csrf = sessions.make_csrf_token(row, path)
        asked = ann.post(path, {"csrf": csrf})
        assert (asked.status_code, urlsplit(address_of(asked)).path) == (303, "/signin"), path
        (page,) = parse_qs(urlsplit(address_of(asked)).query)["return_to"]
        assert ann.get(page).status_code in (200, 302), page


def test_what_was_typed_is_there_after_signing_in_again(ann: Browser, later: Any) -> None:
    on_plan("premium")
    ann.sign_in()
    later(TEN * 2)
    uris = "https://site.example/back\r\nhttps://site.example/other"
    refused = send(ann, "/dashboard/api-apps/new", "/dashboard/api-apps/new", name="S\u00efte", redirect_uris=uris)
    page = ann.get(address_of(sign_in_again(ann, address_of(refused)))).text
    assert 'value="S\u00efte"' in page
    assert uris.replace("\r", "") in page  # lines end as kept texts do


def test_nobody_elses_form_is_filled_in_by_a_link(ann: Browser, bob: Browser, later: Any) -> None:
    ann.sign_in()
    bob.sign_in()
    later(TEN * 2)
    refused = send(ann, "/dashboard/keys", "/dashboard/keys", name="planted")
    (address,) = parse_qs(urlsplit(address_of(refused)).query)["return_to"]
    assert "planted" in ann.get(address).text
    assert "planted" not in bob.get(address).text
    assert "planted" not in ann.get(address.replace("/dashboard/keys?", "/dashboard/account?")).text
    assert "planted" not in ann.get("/dashboard/keys?typed=planted").text
    later(timedelta(minutes=31))
    assert "planted" not in ann.get(address).text


def test_passwords_and_codes_are_never_carried(ann: Browser, later: Any) -> None:
    ann.sign_in()
    page = "/dashboard/account/delete"
    csrf = hidden(ann.get(page).text.split(f'action="{page}"')[1], "csrf")
    later(TEN * 2)
    refused = ann.post(page, {"csrf": csrf, "password": PASSWORD})
    assert "typed" not in address_of(refused)


def test_a_page_asks_again_and_offers_no_way_to_stay(ann: Browser, later: Any) -> None:
    ann.sign_in()
    assert ann.get("/dashboard/account/delete").status_code == 200
    later(TEN * 2)
    asked = ann.get("/dashboard/account/delete")
    page = ann.get(address_of(asked)).text
    assert "asks for a sign-in of the last ten minutes" in page
    assert "continue as you are" not in page
    assert f'value="{ann.email}"' in page
    wrong = sign_in_again(ann, address_of(asked), password="not this one")
    assert "asks for a sign-in of the last ten minutes" in wrong.text
    assert address_of(sign_in_again(ann, address_of(asked))) == "/dashboard/account/delete"
    assert ann.get("/dashboard/account/delete").status_code == 200


def test_what_ends_access_never_asks_again(ann: Browser, later: Any) -> None:
    on_plan("premium")
    ann.sign_in()
    send(ann, "/dashboard/keys", "/dashboard/keys", name="laptop")
    client_id = re.search(r"app_[0-9a-f]{32}", make_app(ann).text)[0]  # type: ignore[index]
    later(TEN * 2)
    key_id = hidden(ann.get("/dashboard/keys").text, "key_id")
    revoked = send(ann, "/dashboard/keys", "/dashboard/keys/revoke", key_id=key_id)
    assert address_of(revoked) == "/dashboard/keys?done=revoked"
    rotated = send(ann, "/dashboard/api-apps", "/dashboard/api-apps/rotate", client_id=client_id)
    assert urlsplit(address_of(rotated)).path == "/signin"
    deleted = send(ann, "/dashboard/api-apps", "/dashboard/api-apps/delete", client_id=client_id)
    assert address_of(deleted) == "/dashboard/api-apps?done=deleted"


def test_a_changed_password_does_not_count_as_a_new_sign_in(ann: Browser, later: Any) -> None:
    ann.sign_in()
    later(TEN * 2)
    path = "/dashboard/account/password"
    changed = send(ann, "/dashboard/account", path, current=PASSWORD, password="another good password")
    assert address_of(changed) == "/dashboard/account?done=password"
    refused = send(ann, "/dashboard/keys", "/dashboard/keys", name="laptop")
    assert urlsplit(address_of(refused)).path == "/signin"


# --- what applications may ask for: a sign-in that came after their request


@pytest.mark.parametrize("asked", [{"prompt": "login"}, {"max_age": "300"}], ids=["prompt", "max_age"])
@pytest.mark.parametrize("way", ["password and code", "recovery code", "passkey as second factor", "passkey alone"])
def test_an_application_can_ask_for_a_new_sign_in_in_every_way(
    ann: Browser, later: Any, asked: dict[str, str], way: str
) -> None:
    ann.sign_in()
    phone = Authenticator()
    app, codes = set_up(ann)
    add(ann, phone)
    later(TEN)
    client_id = ann.register()
    signin = ann.authorize(client_id, **asked)
    assert urlsplit(address_of(signin)).path == "/signin"
    page = ann.get(address_of(signin)).text
    assert "continue as you are" not in page
    return_to = hidden(page, "return_to")
    if way == "passkey alone":
        entered = enter(ann, phone, return_to)
    else:
        fields = {"csrf": hidden(page, "csrf"), "return_to": return_to, "email": ann.email, "password": PASSWORD}
        assert address_of(ann.post("/signin", fields)) == SECOND
        halfway = ann.get(return_to)
        assert urlsplit(address_of(halfway)).path == "/signin"
        entered = _enter_second(ann, way, app, codes, phone, return_to)
    assert address_of(entered) == return_to
    consent = ann.get(address_of(entered))
    assert back(ann.answer(consent))["code"].startswith("awt_ac_")


def _enter_second(browser: Browser, way: str, app: App, codes: list[str], phone: Authenticator, return_to: str) -> Any:
    if way != "passkey as second factor":
        return second(browser, *((app.show(),) if way == "password and code" else (codes[0], "recovery")))
    credential = phone.get(sign_in_options(browser, SECOND, "second"))
    fields = {"csrf": hidden(browser.get(SECOND).text, "csrf"), "return_to": return_to, "credential": credential}
    return browser.post("/signin/passkey", fields)


def test_the_query_of_a_page_survives_signing_in(ann: Browser) -> None:
    asked = "/dashboard/notices?page=2&topic=caf%C3%A9+%26+b%5Car"
    answer = ann.get(asked)
    assert answer.status_code == 302
    return_to = hidden(ann.get(address_of(answer)).text, "return_to")
    assert ann.sign_in(return_to=return_to).headers["location"] == asked


def test_the_query_of_a_page_survives_signing_in_again(ann: Browser, later: Any) -> None:
    ann.sign_in()
    later(timedelta(minutes=11))
    asked = "/dashboard/account/address?from=mail&next=https%3A%2F%2Fevil.example%2F"
    again = ann.get(asked).headers["location"]
    assert parse_qs(urlsplit(again).query) == {"return_to": [asked], "fresh": ["1"]}
    assert ann.sign_in(return_to=asked).headers["location"] == asked


def test_a_query_never_leads_elsewhere_after_signing_in(ann: Browser) -> None:
    asked = ann.get("/dashboard/keys?return_to=//evil.example/&x=1").headers["location"]
    back = hidden(ann.get(asked).text, "return_to")
    assert (urlsplit(back).netloc, urlsplit(back).path) == ("", "/dashboard/keys")
    long = ann.get(f"/dashboard/keys?{urlencode({'a': '%' * 4000})}").headers["location"]
    assert long == "/signin?return_to=/dashboard/keys"
    for address in ("//evil.example/dashboard?a=1", "https://evil.example/dashboard?a=1", "/\\evil.example?a=1"):
        assert ann.sign_in(return_to=address).headers["location"] == "/dashboard"
