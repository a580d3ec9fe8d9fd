"""OpenID Connect: what an identity token says and who can check it, whose claims are told, how keys take turns."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from authlib.oidc.core.util import create_half_hash
from joserfc import jwt
from joserfc.errors import BadSignatureError
from joserfc.jwk import KeySet, RSAKey
from sqlalchemy import select, update

from auth_server.oauth import signing_keys
from auth_server.sweep import sweep
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.oauth import AccessToken, Client, SigningKey
from shared.secrets import mint, seal
from shared.settings import settings
from tests.auth_server.in_process_browser import BASE, BASIC, Browser


def fetch_keys(ann: Browser) -> list[dict[str, Any]]:
    answer = ann.host.get("/oauth/jwks")
    assert answer.status_code == 200
    keys: list[dict[str, Any]] = answer.json()["keys"]
    return keys


def read(ann: Browser, token: str) -> jwt.Token:
    """As a client does it: with the published keys alone, and with this algorithm alone."""
    return jwt.decode(token, KeySet.import_key_set({"keys": fetch_keys(ann)}), algorithms=["RS256"])


def userinfo(ann: Browser, token: str, **more: Any) -> Any:
    return ann.host.get("/oauth/userinfo", headers={"authorization": f"Bearer {token}"}, **more)


def test_the_identity_token_says_who_for_whom_and_since_when(ann: Browser, later: Any) -> None:
    client_id = ann.register()
    ann.sign_in()
    signed_in = int(clock.now().timestamp())
    later(timedelta(minutes=3))
    tokens = ann.tokens(client_id, nonce="n-0S6_WzA2Mj")
    token = read(ann, tokens["id_token"])
    now = int(clock.now().timestamp())
    assert token.header["alg"] == "RS256"
    assert token.header["kid"] in {key["kid"] for key in fetch_keys(ann)}
    claims = token.claims
    assert abs(claims.pop("auth_time") - signed_in) <= 2
    assert abs(claims.pop("iat") - now) <= 2
    assert abs(claims.pop("exp") - now - 3600) <= 2
    assert claims.pop("at_hash") == create_half_hash(tokens["access_token"], "RS256").decode()
    assert claims == {
        "iss": BASE,
        "aud": client_id,
        "sub": ann.public_id,
        "nonce": "n-0S6_WzA2Mj",
        "email": ann.email,
        "email_verified": True,
    }


def test_without_a_nonce_the_token_has_none(ann: Browser) -> None:
    assert "nonce" not in read(ann, ann.tokens()["id_token"]).claims


@pytest.mark.parametrize(
    ("scope", "has_address"), [(None, True), ("openid email", True), ("openid", False), ("mcp:read openid", False)]
)
def test_identity_is_told_as_far_as_it_was_asked_for(ann: Browser, scope: str | None, has_address: bool) -> None:
    tokens = ann.tokens(scope=scope)
    for claims in (read(ann, tokens["id_token"]).claims, userinfo(ann, tokens["access_token"]).json()):
        assert (claims["sub"], "email" in claims) == (ann.public_id, has_address)


@pytest.mark.parametrize("scope", ["mcp:read", "email offline_access"])
def test_who_did_not_ask_for_identity_is_not_told(ann: Browser, scope: str) -> None:
    tokens = ann.tokens(scope=scope)
    assert "id_token" not in tokens
    assert userinfo(ann, tokens["access_token"]).status_code == 403


def test_a_refresh_gives_no_identity_token(ann: Browser) -> None:
    tokens = ann.tokens()
    assert "id_token" not in ann.refresh(tokens["client_id"], tokens["refresh_token"]).json()


def test_a_changed_token_or_another_key_does_not_hold(ann: Browser) -> None:
    token = ann.tokens()["id_token"]
    head, body, signature = token.split(".")
    other = body[:-2] + ("A" if body[-2] != "A" else "B") + body[-1]
    with pytest.raises(BadSignatureError):
        read(ann, f"{head}.{other}.{signature}")


def test_the_published_keys_hold_no_private_part(ann: Browser) -> None:
    ann.tokens()
    for key in fetch_keys(ann):
        assert set(key) == {"kty", "kid", "use", "alg", "n", "e"}
        assert (key["kty"], key["use"], key["alg"]) == ("RSA", "sig", "RS256")
    assert "max-age" in ann.host.get("/oauth/jwks").headers["cache-control"]


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_userinfo_tells_the_same_person(ann: Browser, method: str) -> None:
    tokens = ann.tokens()
    answer = ann.host.request(method, "/oauth/userinfo", headers={"authorization": f"bearer {tokens['access_token']}"})
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    assert answer.json() == {"sub": ann.public_id, "email": ann.email, "email_verified": True}


def test_an_unconfirmed_address_is_not_called_verified(ann: Browser) -> None:
    tokens = ann.tokens()
    with transaction() as session:
        session.execute(update(Account).values(email_confirmed_at=None))
    assert userinfo(ann, tokens["access_token"]).json()["email_verified"] is False


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer ", "Basic eDp5", "x"])
def test_userinfo_without_a_bearer_is_challenged_without_an_error_code(ann: Browser, header: str | None) -> None:
    answer = ann.host.get("/oauth/userinfo", headers={"authorization": header} if header is not None else {})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == 'Bearer realm="award-travel"'


def test_userinfo_takes_access_tokens_from_the_header_alone(ann: Browser) -> None:
    tokens = ann.tokens()
    for wrong in (tokens["refresh_token"], tokens["id_token"], mint("awt_at_"), "x", tokens["access_token"] + " x"):
        answer = userinfo(ann, wrong)
        assert answer.status_code == 401
        assert 'error="invalid_token"' in answer.headers["www-authenticate"]
        assert wrong not in answer.text
    token = {"access_token": tokens["access_token"]}
    assert ann.host.get("/oauth/userinfo", params=token).status_code == 401
    assert ann.host.post("/oauth/userinfo", data=token).status_code == 401
    twice = [("authorization", f"Bearer {tokens['access_token']}")] * 2
    assert ann.host.get("/oauth/userinfo", headers=twice).status_code == 400


def test_userinfo_ends_with_the_token_the_line_the_client_and_the_account(ann: Browser, later: Any) -> None:
    first, second, third = ann.tokens(), ann.tokens(), ann.tokens()
    ann.host.post("/oauth/revoke", data={"client_id": first["client_id"], "token": first["access_token"]})
    assert userinfo(ann, first["access_token"]).status_code == 401
    ann.host.post("/oauth/revoke", data={"client_id": second["client_id"], "token": second["refresh_token"]})
    assert userinfo(ann, second["access_token"]).status_code == 401
    assert userinfo(ann, third["access_token"]).status_code == 200
    with transaction() as session:
        session.execute(update(Client).values(disabled_at=clock.now()))
    assert userinfo(ann, third["access_token"]).status_code == 401
    with transaction() as session:
        session.execute(update(Client).values(disabled_at=None))
        session.execute(update(Account).values(disabled_at=clock.now()))
    assert userinfo(ann, third["access_token"]).status_code == 401
    with transaction() as session:
        session.execute(update(Account).values(disabled_at=None))
    later(timedelta(hours=1))
    assert userinfo(ann, third["access_token"]).status_code == 401


def test_a_token_without_the_scope_learns_nothing(ann: Browser) -> None:
    tokens = ann.tokens()
    with transaction() as session:
        session.execute(update(AccessToken).values(scope="mcp:read"))
    answer = userinfo(ann, tokens["access_token"])
    assert answer.status_code == 403
    assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]
    assert ann.email not in answer.text


def test_an_identity_token_is_no_access_token(ann: Browser) -> None:
    tokens = ann.tokens()
    assert ann.introspect(tokens["id_token"]) == {"active": False}
    body = {"token": tokens["id_token"], "client_id": tokens["client_id"]}
    assert ann.host.post("/oauth/revoke", data=body, headers={}).status_code == 200
    assert ann.alive(tokens["access_token"])
    assert ann.host.get("/oauth/userinfo", headers={"authorization": BASIC}).status_code == 401


def test_keys_take_turns_every_ninety_days_and_the_next_is_known_a_day_before(ann: Browser, later: Any) -> None:
    old = ann.tokens()["id_token"]
    (first,) = fetch_keys(ann)
    later(timedelta(days=88, hours=23))
    sweep()
    assert len(fetch_keys(ann)) == 1
    later(timedelta(hours=2))
    sweep()
    (_, coming) = fetch_keys(ann)
    assert read(ann, ann.tokens()["id_token"]).header["kid"] == first["kid"]
    later(timedelta(hours=24))
    sweep()
    assert {key["kid"] for key in fetch_keys(ann)} == {first["kid"], coming["kid"]}
    assert read(ann, ann.tokens()["id_token"]).header["kid"] == coming["kid"]
    assert read(ann, old).header["kid"] == first["kid"]
    later(timedelta(hours=25))
    assert [key["kid"] for key in fetch_keys(ann)] == [coming["kid"]]
    sweep()
    with transaction() as session:
        assert session.scalars(select(SigningKey.kid)).all() == [coming["kid"]]


def test_a_service_that_slept_long_still_publishes_a_key_a_day_before_its_turn(ann: Browser, later: Any) -> None:
    ann.tokens()
    (first,) = fetch_keys(ann)
    later(timedelta(days=400))
    sweep()
    assert len(fetch_keys(ann)) == 2
    assert read(ann, ann.tokens()["id_token"]).header["kid"] == first["kid"]
    later(timedelta(hours=25))
    assert read(ann, ann.tokens()["id_token"]).header["kid"] != first["kid"]


def test_programs_that_want_the_first_key_at_once_make_one(ann: Browser) -> None:
    with ThreadPoolExecutor(6) as pool:
        sets = list(pool.map(lambda _: fetch_keys(ann), range(6)))
    assert all(keys == sets[0] for keys in sets)
    with transaction() as session:
        assert len(session.scalars(select(SigningKey)).all()) == 1


def test_private_keys_are_sealed_with_the_newest_key_of_the_environment(ann: Browser, configure: Any) -> None:
    before = ann.tokens()["id_token"]
    with transaction() as session:
        row = session.scalars(select(SigningKey)).one()
    assert '"d"' not in row.private_sealed
    assert "d" not in row.public
    configure(SECRET_KEYS="a-newer-key-0123456789abcdef,test-key-one-0123456789abcdef-0123")
    assert read(ann, ann.tokens()["id_token"]).header["kid"] == row.kid
    configure(SECRET_KEYS="quite-another-key-0123456789abcdef")
    assert read(ann, ann.tokens()["id_token"]).header["kid"] != row.kid  # unreadable: a new one takes over at once
    assert read(ann, before).header["kid"] == row.kid


def test_generated_keys_have_2048_bits_and_a_thumbprint_for_a_name() -> None:
    key = RSAKey.generate_key(2048, {"use": "sig", "alg": signing_keys.ALGORITHM}, auto_kid=True)
    assert key.kid == key.thumbprint()
    assert key.raw_value.key_size == 2048
    stored = seal(settings().encryption_keys[0], json.dumps(key.as_dict(private=True)))
    read_back = signing_keys._unseal_key(stored, tuple(settings().encryption_keys))  # no key of `quick_keys`
    assert read_back is not None
    assert read_back is not key
    signed = jwt.encode({"alg": signing_keys.ALGORITHM}, {"sub": "ann"}, read_back)
    assert jwt.decode(signed, key).claims == {"sub": "ann"}
