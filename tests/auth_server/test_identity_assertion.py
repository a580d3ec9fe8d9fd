"""Enterprise-managed authorization: an assertion of the enterprise gives a token, and every other one gives none."""

import base64
import json
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey
from sqlalchemy import select, update
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from auth_server import sweep
from auth_server.accounts.accounts import find_account
from auth_server.oauth.clients import JWT_BEARER
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.linked_identities import LinkedIdentity, UsedAssertion
from shared.db.oauth import AccessToken, Client, Consent, Family, RefreshToken
from shared.db.security_events import SecurityEvent
from shared.secrets import digest
from tests.auth_server.in_process_browser import BASE, RESOURCE, Browser, hidden
from tests.support.fake_identity_providers import Outside

Later = Callable[[timedelta], None]
Configure = Callable[..., None]
CLIENT, SECRET = "enterprise-client", "a secret of the application"
METADATA = "/.well-known/oauth-authorization-server"


def add_client(client_id: str = CLIENT, **changed: Any) -> str:
    row = {"kind": "manual", "name": "Acme Assistant", "auth_method": "client_secret", "redirect_uris": []}
    with transaction() as session:
        session.add(Client(client_id=client_id, **row | {"secret_hash": digest(SECRET)} | changed))
    return client_id


def enable(configure: Configure, world: Outside, **changed: Any) -> None:
    entry = {"jwks_url": f"{world.issuer}/keys"} | changed
    entry = {name: value for name, value in entry.items() if value is not None}
    configure(ENTERPRISE_ISSUERS=json.dumps({world.issuer: entry}))


@pytest.fixture
def enterprise(outside: Outside, ann: Browser, configure: Configure) -> Outside:
    """The enterprise's provider is trusted, its client is known, and ann has linked her identity there."""
    enable(configure, outside)
    add_client()
    with transaction() as session:
        account = find_account(session, ann.email)
        assert account is not None
        row = {"issuer": outside.issuer, "subject": "subject-1", "provider": "Acme", "address": ann.email}
        session.add(LinkedIdentity(account_id=account.id, **row, created_at=clock.now()))
    return outside


def make_assertion(world: Outside, header: dict[str, Any] | None = None, **changed: Any) -> str:
    """An assertion as the enterprise gives it; a claim of None is left out."""
    now = int(clock.now().timestamp())
    claims = {
        "iss": world.issuer,
        "sub": "subject-1",
        "aud": BASE,
        "client_id": CLIENT,
        "resource": RESOURCE,
        "scope": "mcp:read",
        "jti": secrets.token_hex(8),
        "iat": now,
        "exp": now + 300,
    }
    claims = {name: value for name, value in (claims | changed).items() if value is not None}
    return jwt.encode(
        {"alg": "RS256", "kid": world.key.kid, "typ": "oauth-id-jag+jwt"} | (header or {}), claims, world.key
    )


def exchange(browser: Browser, assertion: str | None, **changed: Any) -> Any:
    fields = {"grant_type": JWT_BEARER, "assertion": assertion, "client_id": CLIENT, "client_secret": SECRET}
    return browser.token(fields | changed)


def is_refused(answer: Any, error: str = "invalid_grant", status: int = 400) -> bool:
    assert (answer.status_code, answer.json().get("error")) == (status, error), answer.text
    with transaction() as session:
        return session.scalars(select(AccessToken)).all() == []


# --- what is given


def test_an_assertion_gives_an_access_token_for_its_resource_and_nothing_to_refresh(
    enterprise: Outside, ann: Browser
) -> None:
    answer = exchange(ann, make_assertion(enterprise))
    assert answer.status_code == 200, answer.text
    token = answer.json()
    assert set(token) == {"access_token", "token_type", "expires_in", "scope"}
    assert (token["token_type"], token["expires_in"], token["scope"]) == ("Bearer", 3600, "mcp:read")
    assert answer.headers["cache-control"] == "no-store"
    claims = ann.introspect(token["access_token"])
    assert (claims["active"], claims["sub"], claims["client_id"]) == (True, ann.public_id, CLIENT)
    with transaction() as session:
        assert session.scalars(select(RefreshToken)).all() == []
        assert session.scalars(select(AccessToken.resource)).all() == [RESOURCE]


def test_the_client_may_show_its_secret_by_basic_authentication(enterprise: Outside, ann: Browser) -> None:
    basic = base64.b64encode(f"{CLIENT}:{SECRET.replace(' ', '%20')}".encode()).decode()
    fields = {"grant_type": JWT_BEARER, "assertion": make_assertion(enterprise)}
    assert ann.token(fields, headers={"authorization": f"Basic {basic}"}).status_code == 200


def test_the_owner_is_told_once_and_can_end_it(enterprise: Outside, ann: Browser) -> None:
    first, second = (exchange(ann, make_assertion(enterprise)).json()["access_token"] for _ in range(2))
    with transaction() as session:
        assert len(session.scalars(select(Family)).all()) == 1
        events = session.scalars(select(SecurityEvent)).all()
        assert [(event.kind, event.subject) for event in events] == [("application_allowed", "Acme Assistant")]
    ann.sign_in()
    page = ann.get("/dashboard/security").text
    assert "Acme Assistant" in page
    form = page.split('action="/dashboard/security/application"')[1]
    fields = {"csrf": hidden(form, "csrf"), "application": hidden(form, "application")}
    ann.post("/dashboard/security/application", fields)
    assert (ann.alive(first), ann.alive(second)) == (False, False)


def test_the_overview_names_the_application_and_disconnects_it(enterprise: Outside, ann: Browser) -> None:
    token = exchange(ann, make_assertion(enterprise)).json()["access_token"]
    ann.sign_in()
    form = ann.get("/dashboard/account").text.split('action="/dashboard/disconnect"')[1]
    fields = {"csrf": hidden(form, "csrf"), "client_id": hidden(form, "client_id")}
    assert fields["client_id"] == CLIENT
    ann.post("/dashboard/disconnect", fields)
    assert not ann.alive(token)


def _disconnect(browser: Browser) -> None:
    browser.sign_in()
    form = browser.get("/dashboard/account").text.split('action="/dashboard/disconnect"')[1]
    browser.post("/dashboard/disconnect", {name: hidden(form, name) for name in ("csrf", "client_id")})


@pytest.mark.parametrize("way_back", ["consent", "link"])
def test_what_a_person_disconnected_stays_out_until_they_allow_it_again(
    enterprise: Outside, ann: Browser, later: Later, way_back: str
) -> None:
    exchange(ann, make_assertion(enterprise))
    _disconnect(ann)
    later(timedelta(days=200))
    sweep.sweep()
    answer = exchange(ann, make_assertion(enterprise))
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")
    assert "disconnected this application" in answer.json()["error_description"]
    with transaction() as session:
        account = session.scalars(select(Account)).one()
        if way_back == "link":
            session.scalars(select(LinkedIdentity)).one().created_at = clock.now()
        else:
            session.add(Consent(account_id=account.id, client_id=CLIENT, redirect_host="x", granted_at=clock.now()))
    assert exchange(ann, make_assertion(enterprise)).status_code == 200


def test_over_addresses_of_its_domains_the_enterprise_decides(
    enterprise: Outside, ann: Browser, configure: Configure
) -> None:
    enable(configure, enterprise, accounts="email", email_domains=["example.test"])
    assert exchange(ann, make_assertion(enterprise, email=ann.email)).status_code == 200
    _disconnect(ann)
    assert exchange(ann, make_assertion(enterprise, email=ann.email)).status_code == 200


def test_keys_in_the_settings_need_no_address(enterprise: Outside, ann: Browser, configure: Configure) -> None:
    enable(configure, enterprise, jwks_url=None, jwks={"keys": [enterprise.key.as_dict(private=False)]})
    assert exchange(ann, make_assertion(enterprise)).status_code == 200
    assert enterprise.count("/oidc/keys") == 0


def test_an_address_of_the_enterprises_domain_names_an_account(
    enterprise: Outside, ann: Browser, configure: Configure
) -> None:
    enable(configure, enterprise, accounts="email", email_domains=["example.test"])
    assertion = make_assertion(enterprise, sub="somebody", email="Ann@Example.test")
    assert exchange(ann, assertion).status_code == 200


def test_keys_that_changed_are_read_again_once_a_minute(enterprise: Outside, ann: Browser, later: Later) -> None:
    assert exchange(ann, make_assertion(enterprise)).status_code == 200
    later(timedelta(minutes=2))
    enterprise.key = RSAKey.generate_key(2048, {"use": "sig"}, auto_kid=True)
    assert exchange(ann, make_assertion(enterprise)).status_code == 200
    for _ in range(5):
        exchange(ann, make_assertion(enterprise, {"kid": "unknown"}))
    assert enterprise.count("/oidc/keys") == 2


@pytest.mark.parametrize("scope", [None, "mcp:read", "mcp:read openid"])
def test_the_scope_asked_for_holds_what_the_enterprise_allows(
    enterprise: Outside, ann: Browser, scope: str | None
) -> None:
    answer = exchange(ann, make_assertion(enterprise), scope=scope)
    assert answer.json()["scope"] == "mcp:read"


def test_without_a_resource_the_token_is_for_the_tools(enterprise: Outside, ann: Browser) -> None:
    assert exchange(ann, make_assertion(enterprise, resource=None), resource=RESOURCE).status_code == 200
    assert exchange(ann, make_assertion(enterprise, resource=[RESOURCE])).status_code == 200


# --- what is announced


def test_it_is_announced_and_accepted_only_where_it_is_switched_on(
    enterprise: Outside, ann: Browser, host: TestClient, configure: Configure
) -> None:
    profile = "urn:ietf:params:oauth:grant-profile:id-jag"
    document = host.get(METADATA).json()
    assert document["authorization_grant_profiles_supported"] == [profile]
    assert JWT_BEARER in document["grant_types_supported"]
    configure(ENTERPRISE_ISSUERS="{}")
    document = host.get(METADATA).json()
    assert "authorization_grant_profiles_supported" not in document
    assert JWT_BEARER not in document["grant_types_supported"]
    assert is_refused(exchange(ann, make_assertion(enterprise)), "unsupported_grant_type")


# --- what is refused


@pytest.mark.parametrize(
    "changed",
    [
        {"iss": "https://evil.example"},
        {"iss": None},
        {"iss": ["x"]},
        {"aud": "https://other.example"},
        {"aud": f"{BASE}/oauth/token"},
        {"aud": [BASE, "https://other.example"]},
        {"aud": None},
        {"sub": None},
        {"sub": "subject-2"},
        {"sub": 7},
        {"client_id": "another-client"},
        {"client_id": None},
        {"resource": "https://other.example/mcp"},
        {"resource": 7},
        {"resource": []},
        {"scope": "mcp:write"},
        {"scope": ""},
        {"scope": ["mcp:read"]},
        {"jti": None},
        {"jti": ""},
        {"jti": 7},
        {"exp": 1},
        {"exp": None},
        {"exp": "soon"},
        {"exp": 99999999999},
        {"iat": 99999999999},
        {"iat": None},
        {"nbf": 99999999999},
    ],
    ids=str,
)
def test_an_assertion_with_a_wrong_claim_gives_nothing(
    enterprise: Outside, ann: Browser, changed: dict[str, Any]
) -> None:
    assert is_refused(exchange(ann, make_assertion(enterprise, **changed)))


@pytest.mark.parametrize("kind", ["JWT", "at+jwt", "id-jag", ""])
def test_another_kind_of_token_is_no_assertion(enterprise: Outside, ann: Browser, kind: str) -> None:
    """An ID token of the same provider says who someone is, not that this client may act for them."""
    assert is_refused(exchange(ann, make_assertion(enterprise, {"typ": kind})))


@pytest.mark.parametrize("assertion", ["x", "a.b.c", "e30.e30.", "x" * 4000, "\u00e9"], ids=len)
def test_nonsense_is_no_assertion(enterprise: Outside, ann: Browser, assertion: str) -> None:
    assert is_refused(exchange(ann, assertion))


def test_a_missing_assertion_is_said(enterprise: Outside, ann: Browser) -> None:
    assert is_refused(exchange(ann, None), "invalid_request")


def test_an_assertion_without_a_signature_gives_nothing(enterprise: Outside, ann: Browser) -> None:
    _, claims, _ = make_assertion(enterprise).split(".")
    header = base64.urlsafe_b64encode(b'{"alg":"none","typ":"oauth-id-jag+jwt"}').rstrip(b"=").decode()
    assert is_refused(exchange(ann, f"{header}.{claims}."))


def test_an_assertion_of_another_key_gives_nothing(enterprise: Outside, ann: Browser) -> None:
    kid = enterprise.key.kid
    good, enterprise.key = enterprise.key, RSAKey.generate_key(2048)
    enterprise.published = [good.as_dict(private=False)]
    assert is_refused(exchange(ann, make_assertion(enterprise, {"kid": kid})))


def test_an_assertion_is_good_once_also_for_two_at_once(enterprise: Outside, ann: Browser) -> None:
    assertion = make_assertion(enterprise)
    with ThreadPoolExecutor(4) as pool:
        statuses = sorted(pool.map(lambda _: exchange(ann, assertion).status_code, range(4)))
    assert statuses == [200, 400, 400, 400]


def test_a_used_assertion_is_remembered_as_long_as_it_could_be_good(
    enterprise: Outside, ann: Browser, later: Later
) -> None:
    now = int(clock.now().timestamp())
    assertion = make_assertion(enterprise, exp=now + 3600)
    exchange(ann, assertion)
    later(timedelta(minutes=60, seconds=59))
    sweep.sweep()
    assert exchange(ann, assertion).json()["error_description"] == "The assertion was used before."
    later(timedelta(minutes=2))
    sweep.sweep()
    with transaction() as session:
        assert session.scalars(select(UsedAssertion)).all() == []


@pytest.mark.parametrize("secret", ["wrong", None])
def test_a_client_that_does_not_show_its_secret_gets_nothing(
    enterprise: Outside, ann: Browser, secret: str | None
) -> None:
    assert is_refused(exchange(ann, make_assertion(enterprise), client_secret=secret), "invalid_client", 401)


def test_a_client_without_a_secret_gets_nothing(enterprise: Outside, ann: Browser) -> None:
    public = ann.register()
    assertion = make_assertion(enterprise, client_id=public)
    answer = exchange(ann, assertion, client_id=public, client_secret=None)
    assert is_refused(answer, "invalid_client", 401)


def test_another_client_gets_nothing_for_an_assertion_it_came_by(enterprise: Outside, ann: Browser) -> None:
    thief = add_client("thief")
    assert is_refused(exchange(ann, make_assertion(enterprise), client_id=thief))


def test_a_resource_the_assertion_does_not_name_is_refused(enterprise: Outside, ann: Browser) -> None:
    answer = exchange(ann, make_assertion(enterprise), resource="https://other.example/mcp")
    assert is_refused(answer, "invalid_target")


@pytest.mark.parametrize(("allowed", "requested"), [("mcp:read", "openid"), ("mcp:read openid", "mcp:read")])
def test_a_scope_beside_what_is_asked_for_is_refused(
    enterprise: Outside, ann: Browser, allowed: str, requested: str
) -> None:
    answer = exchange(ann, make_assertion(enterprise, scope=allowed), scope=requested)
    assert is_refused(answer, "invalid_scope")


@pytest.mark.parametrize(
    "claims",
    [
        {"email": "bob@other.test"},
        {"email": "nobody@example.test"},
        {"email": "ann@example.test", "email_verified": False},
        {"email": "ann@example.test", "email_verified": "true"},
        {"email": "ann@example.test.evil.example"},
        {"email": 7},
        {},
    ],
    ids=str,
)
def test_an_issuer_speaks_for_the_addresses_of_its_domains_alone(
    enterprise: Outside, ann: Browser, configure: Configure, claims: dict[str, Any]
) -> None:
    enable(configure, enterprise, accounts="email", email_domains=["example.test"])
    with transaction() as session:
        bob = Account(public_id="acc_bob", email="bob@other.test", plan="free", email_confirmed_at=clock.now())
        session.add(bob)
    assert is_refused(exchange(ann, make_assertion(enterprise, **claims)))


@pytest.mark.parametrize("column", ["disabled_at", "email_confirmed_at"])
def test_an_account_that_may_not_sign_in_gets_nothing(enterprise: Outside, ann: Browser, column: str) -> None:
    with transaction() as session:
        session.execute(update(Account).values({column: clock.now() if column == "disabled_at" else None}))
    assert is_refused(exchange(ann, make_assertion(enterprise)))


def test_while_the_keys_cannot_be_read_the_client_is_told_to_try_again(enterprise: Outside, ann: Browser) -> None:
    enterprise.answers["/oidc/keys"] = lambda: PlainTextResponse("down", 503)
    for _ in range(3):
        assert is_refused(exchange(ann, make_assertion(enterprise)), "temporarily_unavailable", 503)
    assert enterprise.count("/oidc/keys") == 1


def test_nobodys_keys_are_asked_for_but_those_of_the_settings(enterprise: Outside, ann: Browser) -> None:
    assertion = make_assertion(enterprise, iss=f"{enterprise.base}/oidc/")
    assert is_refused(exchange(ann, assertion))
    assert enterprise.requests == []
