"""Doors tried with what opens another: half a sign-in, tokens of another kind, another form, a narrower address."""

from datetime import timedelta
from typing import Any

import pytest

from auth_server.app import ROUTES
from tests.auth_server.in_process_browser import CALLBACK, VERIFIER, Browser, back, hidden
from tests.auth_server.keys import make_key
from tests.auth_server.test_totp import is_in, set_up

FORMS = sorted(route.path.replace("{name}", "acme") for route in ROUTES if "POST" in (route.methods or ()))
PAGES = ("/signin", "/signup", "/recover", "/dashboard", "/signout")  # begin paths of forms that a page of ours holds


@pytest.fixture
def half(ann: Browser, later: Any) -> Browser:
    """ann with an authenticator app, who has given her password and no code."""
    ann.sign_in()
    set_up(ann)
    ann.cookie = None
    later(timedelta(minutes=1))
    assert ann.sign_in().headers["location"].startswith("/signin/second")
    assert not is_in(ann)
    return ann


def test_no_code_is_given_to_who_gave_the_password_alone(half: Browser) -> None:
    client_id = half.register()
    assert half.authorize(client_id).headers["location"].startswith("/signin?")
    assert back(half.authorize(client_id, prompt="none"))["error"] == "login_required"


def test_consent_shown_before_is_not_answered_by_who_gave_the_password_alone(half: Browser, bob: Browser) -> None:
    bob.sign_in()
    page = bob.authorize(bob.register())
    assert half.answer(page).status_code == 403
    assert half.answer(page, csrf=hidden(half.get("/signin").text, "csrf")).status_code == 403


@pytest.mark.slow  # 600 requests
@pytest.mark.usefixtures("outside")
def test_no_form_takes_a_token_of_another_script_or_another_form(half: Browser) -> None:
    other, taken = hidden(half.get("/signin").text, "csrf"), []
    for path in (path for path in FORMS if path.startswith(PAGES) or path == "/oauth/consent"):
        for token in ("\u00e9\u4e16", "\U0001f600", "x" * 3000, "0" * 64 if path.startswith("/signin") else other):
            answer = half.post(path, {"csrf": token, "email": half.email, "password": "x", "code": "000000"})
            # The dashboard asks to sign in before it reads a form.
            asks = answer.status_code == 302 and answer.headers["location"].startswith("/signin")
            if not (asks or answer.status_code in (400, 403)):
                taken.append(f"{path}: {answer.status_code} with the token {token:.9}")
        taken += [f"{path}: opened the door"] * is_in(half)
    assert taken == []
    assert hidden(half.get("/signin").text, "csrf") == other  # it was the same half sign-in to the end


@pytest.mark.parametrize("kind", ["key", "cookie", "identity token"])
def test_what_opens_another_door_is_neither_code_nor_refresh_token_nor_secret(ann: Browser, kind: str) -> None:
    tokens = ann.tokens()
    client_id = tokens["client_id"]
    sent = {"key": make_key(ann), "cookie": str(ann.cookie), "identity token": tokens["id_token"]}[kind]
    assert ann.redeem(client_id, sent).json()["error"] == "invalid_grant"
    assert ann.refresh(client_id, sent).json()["error"] == "invalid_grant"
    assert ann.refresh(client_id, tokens["refresh_token"], client_secret=sent).json()["error"] == "invalid_client"
    assert ann.refresh(sent, tokens["refresh_token"]).json()["error"] in ("invalid_client", "invalid_request")
    assert ann.introspect(sent) == {"active": False}
    assert ann.host.get("/oauth/userinfo", headers={"authorization": f"Bearer {sent}"}).status_code == 401
    assert ann.alive(tokens["access_token"])


@pytest.mark.parametrize("hint", ["access_token", "saml", ""])
def test_a_wrong_hint_hides_no_refresh_token(ann: Browser, hint: str) -> None:
    tokens = ann.tokens()
    fields = {"client_id": tokens["client_id"], "token": tokens["refresh_token"], "token_type_hint": hint}
    assert ann.host.post("/oauth/revoke", data=fields).status_code == 200
    assert not ann.alive(tokens["access_token"])


def test_a_code_of_one_sign_in_is_not_redeemed_with_the_verifier_of_another(ann: Browser) -> None:
    """Two browsers of one application: the thief's request carries the thief's challenge (RFC 9700 4.5.3)."""
    client_id = ann.register()
    stolen = ann.code(client_id)
    fields = {"grant_type": "authorization_code", "code": stolen, "redirect_uri": CALLBACK, "client_id": client_id}
    assert ann.token(fields | {"code_verifier": VERIFIER[::-1]}).json()["error"] == "invalid_grant"
    assert ann.redeem(client_id, stolen).json()["error"] == "invalid_grant"


def test_more_of_one_line_than_its_owner_has_is_not_given_by_a_narrower_resource(ann: Browser) -> None:
    client_id = ann.register()
    narrow = "http://127.0.0.1:8001/mcp/readonly"
    tokens = ann.tokens(client_id, resource=narrow)
    for wider in ("http://127.0.0.1:8001/mcp", "http://127.0.0.1:8001/mcp/readonly/../", "http://127.0.0.1:8001"):
        answer = ann.refresh(client_id, tokens["refresh_token"], resource=wider)
        assert answer.json()["error"] == "invalid_target"
    assert ann.introspect(ann.refresh(client_id, tokens["refresh_token"]).json()["access_token"])["aud"] == narrow
