"""Sign-in by other providers: the way of a person, and everything that must not get anybody in."""

import asyncio
import base64
import hmac
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey
from sqlalchemy import select, update
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.testclient import TestClient

from auth_server.accounts import identity_providers, linked_identities, provider_documents, signup
from auth_server.accounts.provider_journeys import LIFETIME
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.linked_identities import ProviderSignIn
from shared.db.oauth import WebSession
from tests.auth_server.in_process_browser import PASSWORD, Browser, hidden, query
from tests.auth_server.provider_sign_in import accounts, allow, answer_link_page, come_back, identities, is_in, press
from tests.support.fake_identity_providers import CLIENT, Outside

Later = Callable[[timedelta], None]
Configure = Callable[..., None]


# --- the way of a person


@pytest.mark.parametrize("page", ["/signin", "/signup"])
def test_a_new_address_gets_an_account_that_is_confirmed_and_has_no_password(
    outside: Outside, stranger: Browser, page: str
) -> None:
    answer = stranger.get(allow(press(stranger, page=page)))
    assert (answer.status_code, answer.headers["location"]) == (303, "/dashboard")
    assert is_in(stranger)
    assert identities() == [(outside.issuer, "subject-1", "ann@example.test")]
    with transaction() as session:
        account = session.scalars(select(Account)).one()
        assert account.email == "ann@example.test"
        assert account.password_hash is None
        assert account.email_confirmed_at is not None


def test_the_request_has_pkce_state_nonce_and_an_address_of_this_provider_alone(
    outside: Outside, stranger: Browser
) -> None:
    sent = {name: values[0] for name, values in parse_qs(urlsplit(press(stranger).headers["location"]).query).items()}
    assert sent["code_challenge_method"] == "S256"
    assert (sent["scope"], sent["client_id"]) == ("openid email", CLIENT)
    assert sent["redirect_uri"] == "http://127.0.0.1:8000/signin/callback/acme"
    assert len(sent["state"]) >= 40
    assert len(sent["nonce"]) >= 40
    assert sent["state"] not in _everything_stored()


def _everything_stored() -> str:
    with transaction() as session:
        return str([list(vars(row).values()) for row in session.scalars(select(ProviderSignIn))])


def test_the_same_identity_comes_back_to_the_same_account_whatever_its_address(
    outside: Outside, stranger: Browser
) -> None:
    come_back(stranger)
    stranger.cookie = None
    outside.address, outside.claims = "moved@example.test", {"email_verified": False}
    assert come_back(stranger).headers["location"] == "/dashboard"
    assert accounts() == ["ann@example.test"]


def test_two_tabs_that_arrive_at_once_are_one_account(
    outside: Outside, stranger: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second looks before the first is stored, and waits for it."""
    come_back(stranger)
    stranger.cookie = None
    find, first = linked_identities.find_identity, iter([None])
    monkeypatch.setattr(linked_identities, "find_identity", lambda *args: next(first, find(*args)))
    assert come_back(stranger).headers["location"] == "/dashboard"
    assert (len(accounts()), len(identities())) == (1, 1)


def test_github_signs_in_by_its_number_and_its_primary_address(outside: Outside, stranger: Browser) -> None:
    assert come_back(stranger, "github").headers["location"] == "/dashboard"
    assert identities() == [(outside.base, "4711", "ann@example.test")]


def test_the_chain_goes_on_to_the_consent_page_and_to_a_token(outside: Outside, stranger: Browser) -> None:
    client_id = stranger.register()
    to_signin = stranger.authorize(client_id).headers["location"]
    answer = stranger.get(allow(press(stranger, page=to_signin)))
    page = stranger.get(answer.headers["location"])
    code = parse_qs(urlsplit(stranger.answer(page).headers["location"]).query)["code"][0]
    assert stranger.alive(stranger.redeem(client_id, code).json()["access_token"])
    assert query(client_id)["state"] == "st&te= 1"


def test_an_address_that_only_the_userinfo_endpoint_tells_is_read_there(outside: Outside, stranger: Browser) -> None:
    outside.claims = {"email": None, "email_verified": None}
    outside.profile = {"sub": "subject-1", "email": "ann@example.test", "email_verified": True}
    assert come_back(stranger).status_code == 303
    assert accounts() == ["ann@example.test"]


def test_keys_that_changed_are_read_again(outside: Outside, stranger: Browser, later: Later) -> None:
    come_back(stranger)
    stranger.cookie = None
    later(timedelta(minutes=2))
    outside.key = RSAKey.generate_key(2048, {"use": "sig"}, auto_kid=True)
    assert come_back(stranger).headers["location"] == "/dashboard"


def test_documents_are_read_once_an_hour(outside: Outside, stranger: Browser, later: Later) -> None:
    for _ in range(3):
        stranger.cookie = None
        come_back(stranger)
    assert outside.count("/oidc/.well-known/openid-configuration") == 1
    later(timedelta(minutes=61))
    stranger.cookie = None
    come_back(stranger)
    assert outside.count("/oidc/.well-known/openid-configuration") == 2


# --- nothing of this gets anybody in


def is_refused(browser: Browser, answer: Any, text: str, status: int = 400) -> bool:
    """With these words, and no one is signed in by it."""
    assert (answer.status_code, text in answer.text) == (status, True), answer.text
    return not is_in(browser) and identities() == []


def test_the_button_needs_the_token_of_its_form(outside: Outside, stranger: Browser) -> None:
    assert press(stranger, csrf="0" * 64).status_code == 403
    assert outside.count("/oidc/authorize") == 0


def test_a_wrong_state_is_refused_before_the_provider_is_asked(outside: Outside, stranger: Browser) -> None:
    path = allow(press(stranger))
    assert is_refused(stranger, stranger.get(path.replace("state=", "state=x")), "begun in another browser")
    assert outside.count("/oidc/token") == 0


def test_another_browser_cannot_finish_what_this_one_began(outside: Outside, host: TestClient) -> None:
    victim, thief = Browser(host), Browser(host)
    path = allow(press(thief))
    victim.get("/signin")
    assert is_refused(victim, victim.get(path), "begun in another browser")
    assert is_refused(victim, Browser(host).get(path), "begun in another browser")


def test_an_answer_is_good_once(outside: Outside, stranger: Browser) -> None:
    path = allow(press(stranger))
    assert stranger.get(path).status_code == 303
    assert stranger.get(path).status_code == 400
    assert outside.count("/oidc/token") == 1


def test_an_answer_that_comes_late_is_refused(outside: Outside, stranger: Browser, later: Later) -> None:
    path = allow(press(stranger))
    later(LIFETIME + timedelta(seconds=1))
    assert is_refused(stranger, stranger.get(path), "more than 15 minutes ago")


def test_an_answer_of_one_provider_is_none_of_another(outside: Outside, stranger: Browser) -> None:
    path = allow(press(stranger))
    assert is_refused(stranger, stranger.get(path.replace("/acme", "/github")), "begun in another browser")


def test_an_answer_with_two_states_is_refused(outside: Outside, stranger: Browser) -> None:
    path = allow(press(stranger))
    assert is_refused(stranger, stranger.get(f"{path}&state=x"), "begun in another browser")


def test_a_refusal_at_the_provider_leads_back_to_the_sign_in_page(outside: Outside, stranger: Browser) -> None:
    state = parse_qs(urlsplit(press(stranger).headers["location"]).query)["state"][0]
    answer = stranger.get(f"/signin/callback/acme?error=access_denied&state={state}")
    assert is_refused(stranger, answer, "refused or given up")
    assert 'href="/signin?return_to=' in answer.text


@pytest.mark.parametrize(("issuer", "status"), [(None, 400), ("https://evil.example", 400), ("", 303)])
def test_where_the_provider_says_so_its_answer_names_it(
    outside: Outside, stranger: Browser, issuer: str | None, status: int
) -> None:
    """RFC 9207; the empty one stands for the right one."""
    outside.metadata = {"authorization_response_iss_parameter_supported": True}
    named = "" if issuer is None else f"&iss={issuer or outside.issuer}"
    assert stranger.get(allow(press(stranger)) + named).status_code == status


def test_an_issuer_that_is_named_is_compared_even_where_it_need_not_be(outside: Outside, stranger: Browser) -> None:
    path = allow(press(stranger))
    assert is_refused(stranger, stranger.get(f"{path}&iss=https://evil.example"), "another provider")
    assert outside.count("/oidc/token") == 0


NOT_ACCEPTED = "does not accept"


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"iss": "https://evil.example"},
        {"iss": None},
        {"aud": "another-client"},
        {"aud": None},
        {"aud": [CLIENT, "another-client"]},  # without azp: OpenID Connect Core 3.1.3.7
        {"azp": "another-client"},
        {"exp": 1},
        {"exp": None},
        {"exp": "soon"},
        {"iat": 99999999999},
        {"nbf": 99999999999},
        {"sub": None},
        {"sub": ""},
        {"sub": 7},
        {"sub": "x" * 300},
        {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"},
    ],
    ids=str,
)
def test_an_id_token_with_a_wrong_claim_is_refused(outside: Outside, stranger: Browser, claims: dict[str, Any]) -> None:
    outside.claims = claims
    assert is_refused(stranger, come_back(stranger), NOT_ACCEPTED)


def encode(part: bytes) -> str:
    return base64.urlsafe_b64encode(part).rstrip(b"=").decode()


def unsigned(claims: dict[str, Any]) -> str:
    return ".".join([encode(json.dumps({"alg": "none"}).encode()), encode(json.dumps(claims).encode()), ""])


def signed_with_the_public_key(world: Outside) -> Callable[[dict[str, Any]], str]:
    def sign(claims: dict[str, Any]) -> str:
        header = {"alg": "HS256", "kid": world.key.kid}
        content = f"{encode(json.dumps(header).encode())}.{encode(json.dumps(claims).encode())}"
        return f"{content}.{encode(hmac.digest(world.key.as_pem(private=False), content.encode(), 'sha256'))}"

    return sign


def signed_by_another(world: Outside) -> Callable[[dict[str, Any]], str]:
    return lambda claims: jwt.encode({"alg": "RS256", "kid": world.key.kid}, claims, RSAKey.generate_key(2048))


@pytest.mark.parametrize(
    "make",
    [
        lambda world: unsigned,
        signed_with_the_public_key,
        signed_by_another,
        lambda world: lambda claims: "no.token.at all",
        lambda world: lambda claims: "x" * 20_000,
    ],
    ids=["none", "public key as secret", "another key", "nonsense", "very long"],
)
def test_a_signature_nobody_vouches_for_is_refused(
    outside: Outside, stranger: Browser, make: Callable[[Outside], Callable[[dict[str, Any]], str]]
) -> None:
    outside.sign = make(outside)
    assert is_refused(stranger, come_back(stranger), NOT_ACCEPTED)


@pytest.mark.parametrize("kind", ["at+jwt", "oauth-id-jag+jwt", "logout+jwt"])
def test_another_kind_of_token_is_no_id_token(outside: Outside, stranger: Browser, kind: str) -> None:
    outside.header = {"typ": kind}
    assert is_refused(stranger, come_back(stranger), NOT_ACCEPTED)


def test_userinfo_about_somebody_else_is_refused(outside: Outside, stranger: Browser) -> None:
    outside.claims = {"email": None}
    outside.profile = {"sub": "subject-2", "email": "ann@example.test", "email_verified": True}
    assert is_refused(stranger, come_back(stranger), "two different people")


@pytest.mark.parametrize("verified", [False, None, "true", 1])
def test_an_address_the_provider_has_not_verified_opens_nothing(
    outside: Outside, stranger: Browser, verified: Any
) -> None:
    outside.claims = {"email_verified": verified}
    assert is_refused(stranger, come_back(stranger), "has not verified", 403)
    assert accounts() == []


@pytest.mark.parametrize(
    "emails",
    [
        [{"email": "ann@example.test", "primary": True, "verified": False}],
        [{"email": "ann@example.test", "primary": False, "verified": True}],
        [],
        [{"email": 7, "primary": True, "verified": True}],
        ["ann@example.test"],
    ],
    ids=str,
)
def test_only_the_verified_primary_address_of_github_counts(outside: Outside, stranger: Browser, emails: Any) -> None:
    outside.emails = emails
    assert is_refused(stranger, come_back(stranger, "github"), "has not verified", 403)


@pytest.mark.parametrize("user", [{"login": "ann"}, {"id": "4711"}, {"id": True}, [], None], ids=str)
def test_without_a_number_github_says_nobody(outside: Outside, stranger: Browser, user: Any) -> None:
    outside.user = user
    assert is_refused(stranger, come_back(stranger, "github"), "did not say who you are")


def test_a_code_somebody_else_has_spent_signs_nobody_in(outside: Outside, stranger: Browser) -> None:
    path = allow(press(stranger))
    outside.codes.clear()
    assert is_refused(stranger, stranger.get(path), "did not accept the sign-in")


@pytest.mark.parametrize("target", ["https://evil.example", "//evil.example", "/\\evil.example", "/oauth/token"])
def test_nobody_is_sent_elsewhere_afterwards(outside: Outside, stranger: Browser, target: str) -> None:
    assert come_back(stranger, return_to=target).headers["location"] == "/dashboard"


def test_the_browser_gets_a_new_identifier(outside: Outside, stranger: Browser) -> None:
    path = allow(press(stranger))
    planted = stranger.cookie
    stranger.get(path)
    assert stranger.cookie != planted
    with transaction() as session:
        assert len(session.scalars(select(WebSession)).all()) == 1


# --- providers that are down, slow or too large


def is_unavailable(answer: Any) -> bool:
    assert answer.status_code == 503, answer.text
    return "Acme cannot be reached" in answer.text and "does not answer at present" in answer.text


@pytest.mark.parametrize(
    "told",
    [
        lambda: PlainTextResponse("down", 503),
        lambda: JSONResponse({"issuer": "https://evil.example"}),
        lambda: JSONResponse([]),
        lambda: PlainTextResponse("[" * 60_000),
        lambda: PlainTextResponse('"' + "x" * 70_000 + '"'),
        lambda: Response(status_code=302, headers={"location": "http://127.0.0.1:1/"}),
        lambda: Response(b"{}", headers={"content-encoding": "gzip"}),
    ],
    ids=["down", "another issuer", "no object", "deep", "large", "redirect", "packed"],
)
def test_without_its_document_a_provider_is_said_to_be_away(
    outside: Outside, stranger: Browser, told: Callable[[], Response]
) -> None:
    outside.answers["/oidc/.well-known/openid-configuration"] = told
    page = stranger.get("/signin").text
    fields = {"csrf": hidden(page, "csrf"), "return_to": ""}
    for _ in range(3):
        assert is_unavailable(stranger.post("/signin/with/acme", fields))
    assert outside.count("/oidc/.well-known/openid-configuration") == 1


def test_callers_at_once_wait_for_one_request(outside: Outside) -> None:
    url = f"{outside.issuer}/.well-known/openid-configuration"

    async def load_twice() -> list[str]:
        first = asyncio.create_task(provider_documents.load_document(url))
        while url not in provider_documents._documents or provider_documents._documents[url].tried_at is None:
            await asyncio.sleep(0)  # until the first has begun to ask
        return [(await provider_documents.load_document(url))["issuer"], (await first)["issuer"]]

    assert asyncio.run(load_twice()) == [outside.issuer] * 2
    assert outside.count("/oidc/.well-known/openid-configuration") == 1


def test_endpoints_that_are_neither_https_nor_here_are_not_used(outside: Outside, stranger: Browser) -> None:
    outside.metadata = {"token_endpoint": "http://provider.example/token"}
    assert is_unavailable(press(stranger))


@pytest.mark.parametrize("path", ["/oidc/token", "/oidc/keys"])
@pytest.mark.parametrize(
    "told",
    [
        lambda: PlainTextResponse("down", 503),
        lambda: PlainTextResponse("[" * 60_000),
        lambda: PlainTextResponse("x" * 70_000),
        lambda: JSONResponse({"access_token": {}, "expires_in": {}, "token_type": []}),
    ],
    ids=["down", "deep", "large", "odd"],
)
def test_a_provider_that_answers_badly_signs_nobody_in(
    outside: Outside, stranger: Browser, path: str, told: Callable[[], Response]
) -> None:
    outside.answers[path] = told
    answer = come_back(stranger)
    assert answer.status_code in (400, 503)
    assert identities() == []


@pytest.mark.parametrize("path", ["/oidc/token", "/oidc/keys"])
def test_a_provider_that_never_answers_is_given_up(
    outside: Outside, stranger: Browser, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity_providers, "EXCHANGE_SECONDS", 0.2)
    monkeypatch.setattr(provider_documents, "FETCH_SECONDS", 0.2)
    outside.answers[path] = "hang"
    assert is_unavailable(come_back(stranger))
    assert not is_in(stranger)


def test_a_document_outlives_a_day_without_the_provider_and_no_longer(
    outside: Outside, stranger: Browser, later: Later
) -> None:
    come_back(stranger)
    outside.answers["/oidc/.well-known/openid-configuration"] = lambda: PlainTextResponse("down", 503)
    later(timedelta(hours=23))
    stranger.cookie = None
    assert press(stranger).status_code == 303
    later(timedelta(hours=2))
    stranger.cookie = None
    assert is_unavailable(press(stranger))


# --- who may not come in


def test_a_disabled_account_stays_closed(outside: Outside, stranger: Browser) -> None:
    come_back(stranger)
    stranger.cookie = None
    with transaction() as session:
        session.execute(update(Account).values(disabled_at=clock.now()))
    answer = come_back(stranger)
    assert (answer.status_code, "This account is suspended" in answer.text) == (403, True)
    outside.subject = "subject-2"  # nor is its address free
    assert come_back(stranger).status_code == 403
    assert not is_in(stranger)


def test_where_sign_up_does_not_allow_an_address_no_account_is_made(
    outside: Outside, stranger: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signup, "signup_allows", lambda _db, address: address != "ann@example.test")
    assert is_refused(stranger, come_back(stranger), "does not take new accounts", 403)
    assert accounts() == []


def test_the_password_of_a_sign_up_nobody_confirmed_does_not_survive(outside: Outside, stranger: Browser) -> None:
    """Anyone who typed the address first may be anybody; anyone who the provider vouches for is its owner."""
    page = stranger.get("/signup").text
    fields = {"csrf": hidden(page, "csrf"), "return_to": "", "email": "ann@example.test", "password": PASSWORD}
    stranger.post("/signup", fields)
    assert come_back(stranger).headers["location"] == "/dashboard"
    thief = Browser(stranger.host, "ann@example.test")
    assert thief.sign_in().status_code == 401
    assert len(accounts()) == 1


def test_two_accounts_of_one_provider_are_two_accounts_here(outside: Outside, host: TestClient) -> None:
    first, second = Browser(host), Browser(host)
    come_back(first)
    outside.subject, outside.address = "subject-2", "bob@example.test"
    come_back(second)
    assert accounts() == ["ann@example.test", "bob@example.test"]


def test_a_subject_that_takes_over_an_address_gets_no_account_with_it(outside: Outside, host: TestClient) -> None:
    first, second = Browser(host), Browser(host)
    come_back(first)
    outside.subject = "subject-2"
    assert come_back(second).headers["location"] == "/signin/link"
    assert answer_link_page(second, PASSWORD).status_code == 401
    assert not is_in(second)
