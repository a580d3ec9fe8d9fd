"""The traps of the protocol library, of browsers and of hosts that were met in practice: one test each, named after it.

Those of the tool server stand in tests/mcp_server/transport/test_pitfalls.py.
"""

from typing import Any

import pytest
from sqlalchemy import select

from auth_server.oauth.tokens import ACCESS_SECONDS
from shared.db.base import transaction
from shared.db.oauth import AccessToken, AuthorizationCode, Client, RefreshToken
from tests.auth_server.in_process_browser import (
    BASE,
    BASIC,
    CALLBACK,
    FORM,
    VERIFIER,
    Browser,
    back,
    challenge,
    hidden,
    query,
)


def error_of(answer: Any) -> str:
    return str(answer.json()["error"])


def test_an_authorization_request_without_pkce_is_refused_for_every_kind_of_client(ann: Browser) -> None:
    with transaction() as session:
        row = {"client_id": "by-hand", "kind": "manual", "name": "x", "auth_method": "client_secret"}
        session.add(Client(**row, secret_hash="0" * 64, redirect_uris=[CALLBACK]))
    ann.sign_in()
    for client_id in (ann.register(), "by-hand"):
        bare = ann.authorize(client_id, code_challenge=None, code_challenge_method=None)
        assert back(bare)["error"] == "invalid_request"


def test_a_challenge_without_a_method_is_not_taken_for_plain(ann: Browser) -> None:
    ann.sign_in()
    answer = ann.authorize(ann.register(), code_challenge=VERIFIER[:43], code_challenge_method=None)
    assert back(answer)["error"] == "invalid_request"


def test_a_line_end_after_challenge_or_verifier_is_no_part_of_it(ann: Browser) -> None:
    client_id = ann.register()
    answer = ann.authorize(client_id, code_challenge=challenge(VERIFIER) + "\n")
    assert (answer.status_code, "location" in answer.headers) == (400, False)
    assert error_of(ann.redeem(client_id, ann.code(client_id), code_verifier=VERIFIER + "\n")) == "invalid_request"


@pytest.mark.parametrize("changed", [{"redirect_uri": "https://\xe9"}, {"response_type": 'co"de'}, {"scope": "a\\b"}])
def test_accents_quotes_and_backslashes_break_no_error_text(ann: Browser, changed: dict[str, str]) -> None:
    assert ann.authorize(ann.register(), **changed).status_code in (302, 400)


@pytest.mark.parametrize("header", [b"Basic \xff\xfe", b"Basic /////w==", b"B\xe9sic x", b"Basic w6k6w6k="])
def test_a_basic_header_that_is_no_text_is_a_401(ann: Browser, header: bytes) -> None:
    answer = ann.host.post("/oauth/token", data={"grant_type": "refresh_token"}, headers={"authorization": header})
    assert (answer.status_code, error_of(answer)) == (401, "invalid_client")


@pytest.mark.parametrize(
    "body", ['{"redirect_uris": 5}', '{"redirect_uris": [1]}', '{"grant_types": 5}', '{"grant_types": [{}]}', "[]", "5"]
)
def test_registration_values_of_other_types_are_a_400(ann: Browser, body: str) -> None:
    answer = ann.host.post("/oauth/register", content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, error_of(answer)[:8]) == (400, "invalid_")


def test_a_form_token_that_is_not_ascii_compares_unequal(ann: Browser) -> None:
    ann.sign_in()
    assert ann.answer(ann.authorize(ann.register()), csrf="\xe9\u4e16").status_code == 403
    assert ann.sign_in(csrf="\xe9").status_code == 403


@pytest.mark.parametrize("name", ["client_id", "state", "scope", "redirect_uri", "nonce"])
def test_a_nul_never_reaches_the_database(ann: Browser, name: str) -> None:
    page = ann.get("/oauth/authorize", params=query(ann.register()) | {name: "a\x00b"})
    assert (page.status_code, "location" in page.headers) == (400, False)
    assert ann.host.post("/oauth/token", content=f"{name}=a%00b", headers=FORM).status_code == 400


@pytest.mark.parametrize("path", ["token", "revoke", "introspect"])
def test_what_fails_before_the_library_catches_is_still_a_protocol_answer(ann: Browser, path: str) -> None:
    for body in (b"", b"a=%ff", b"a&&&=", b"=", b"\xff"):
        answer = ann.host.post(f"/oauth/{path}", content=body, headers=FORM | {"authorization": BASIC})
        assert answer.status_code in (200, 400, 401)
        assert answer.headers["content-type"] == "application/json"


def test_an_access_token_lives_one_hour_and_not_ten_days(ann: Browser) -> None:
    assert ann.tokens()["expires_in"] == ACCESS_SECONDS == 3600


def test_registration_mints_no_secret_and_takes_no_script(ann: Browser) -> None:
    client = ann.host.post("/oauth/register", json={"redirect_uris": [CALLBACK]}).json()
    assert (client["token_endpoint_auth_method"], "client_secret" in client) == ("none", False)
    for uris in (None, [], ["javascript://h/%0aalert(1)"]):
        assert error_of(ann.host.post("/oauth/register", json={"redirect_uris": uris})) == "invalid_redirect_uri"


def test_an_unknown_token_type_hint_is_ignored(ann: Browser) -> None:
    tokens = ann.tokens()
    fields = {"client_id": tokens["client_id"], "token": tokens["access_token"], "token_type_hint": "saml"}
    assert ann.host.post("/oauth/revoke", data=fields).status_code == 200
    assert not ann.alive(tokens["access_token"])


@pytest.mark.parametrize("path", ["token", "revoke", "introspect"])
def test_a_parameter_sent_twice_is_refused_at_every_endpoint(ann: Browser, path: str) -> None:
    answer = ann.host.post(f"/oauth/{path}", data={"token": ["a", "a"]}, headers={"authorization": BASIC})
    assert error_of(answer) == "invalid_request"


def test_two_authentications_or_two_clients_in_one_request_are_refused(ann: Browser) -> None:
    fields = {"grant_type": "refresh_token", "refresh_token": "x"}
    for more in ({"client_secret": "x"}, {"client_id": "another"}, {"client_assertion": "x"}):
        assert error_of(ann.token(fields | more, headers={"authorization": BASIC})) == "invalid_request"
    same = ann.token(fields | {"client_id": "award-travel-services"}, headers={"authorization": BASIC})
    assert error_of(same) == "unauthorized_client"  # the same name twice is what one well-known client sends


def test_a_missing_type_is_an_invalid_request_and_not_an_unsupported_one(ann: Browser) -> None:
    client_id = ann.register()
    assert back(ann.authorize(client_id, response_type=None))["error"] == "invalid_request"
    assert error_of(ann.token({"client_id": client_id})) == "invalid_request"


def test_a_401_names_scheme_and_realm(ann: Browser) -> None:
    answer = ann.token({"grant_type": "refresh_token", "refresh_token": "x", "client_id": "nobody"})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith('Basic realm="award-travel"')


def test_every_authorization_response_carries_the_issuer_early_errors_too(ann: Browser) -> None:
    ann.sign_in()
    client_id = ann.register()
    early = ann.authorize(client_id, response_type="token")
    granted = ann.answer(ann.authorize(client_id))
    denied = ann.answer(ann.authorize(client_id, prompt="consent"), "deny")
    assert [back(answer)["iss"] for answer in (early, granted, denied)] == [BASE] * 3


def test_the_registered_query_is_not_encoded_anew(ann: Browser) -> None:
    uri = "http://127.0.0.1:18250/cb?a=b%20c&d=%2f&e"
    client_id = ann.register(uri)
    ann.sign_in()
    page = ann.authorize(client_id, redirect_uri=uri)
    assert ann.answer(page).headers["location"].startswith(uri + "&code=")


def test_tokens_codes_and_secrets_are_stored_as_hashes(ann: Browser) -> None:
    client_id = ann.register()
    code = ann.code(client_id)
    tokens = ann.redeem(client_id, code).json()
    with transaction() as session:
        hashes = session.scalars(select(AccessToken.token_hash)).all()
        hashes = [
            *hashes,
            *session.scalars(select(RefreshToken.token_hash)),
            *session.scalars(select(AuthorizationCode.code_hash)),
        ]
    assert {len(value) for value in hashes} == {64}
    assert not {code, tokens["access_token"], tokens["refresh_token"]} & set(hashes)


def test_a_replayed_code_or_refresh_token_is_recognised_and_ends_the_line(ann: Browser, later: Any) -> None:
    from datetime import timedelta

    client_id = ann.register()
    code = ann.code(client_id)
    first = ann.redeem(client_id, code).json()
    ann.redeem(client_id, code)
    assert not ann.alive(first["access_token"])
    second = ann.tokens(client_id)
    third = ann.refresh(client_id, second["refresh_token"]).json()
    later(timedelta(minutes=61))
    assert error_of(ann.refresh(client_id, second["refresh_token"])) == "invalid_grant"
    assert not ann.alive(third["access_token"])


def test_another_clients_token_is_not_revoked(ann: Browser) -> None:
    tokens, other = ann.tokens(), ann.register(client_name="Another")
    answer = ann.host.post("/oauth/revoke", data={"client_id": other, "token": tokens["refresh_token"]})
    assert (answer.status_code, error_of(answer)) == (400, "invalid_grant")
    assert ann.alive(tokens["access_token"])


def test_pages_let_a_browser_tell_its_origin_and_redirects_tell_no_referrer(ann: Browser) -> None:
    ann.sign_in()
    page = ann.authorize(ann.register())
    assert (ann.get("/signin").headers["referrer-policy"], page.headers["referrer-policy"]) == ("same-origin",) * 2
    assert ann.answer(page).headers["referrer-policy"] == "no-referrer"
    null = ann.post("/signin", {"csrf": hidden(ann.get("/signin").text, "csrf")}, headers={"origin": "null"})
    assert null.status_code == 403


def test_the_two_pages_that_lead_away_send_no_form_action(ann: Browser) -> None:
    signin = ann.get("/signin")
    ann.sign_in()
    for page in (signin, ann.authorize(ann.register())):
        assert "form-action" not in page.headers["content-security-policy"]
        assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "form-action 'self'" in ann.get("/nowhere").headers["content-security-policy"]


def test_after_a_form_a_browser_is_sent_on_by_303(ann: Browser) -> None:
    assert ann.sign_in().status_code == 303
    assert ann.answer(ann.authorize(ann.register())).status_code == 303
