"""The token endpoint: codes, verifiers, client authentication, and everything that must not get a token."""

import base64
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from shared.db.base import transaction
from shared.db.oauth import AccessToken, Client
from shared.secrets import digest, mint
from tests.auth_server.in_process_browser import BASIC, CALLBACK, FORM, RESOURCE, VERIFIER, Browser, challenge


def error_of(answer: Any) -> str:
    assert "access_token" not in answer.text
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-type"] == "application/json"
    return str(answer.json()["error"])


def confidential(owner: Browser, name: str = "app") -> tuple[str, str]:
    """An application made by a person: its id and its secret."""
    secret = mint("awt_cs_")
    with transaction() as session:
        session.add(
            Client(
                client_id=f"manual-{name}",
                kind="manual",
                secret_hash=digest(secret),
                name=name,
                auth_method="client_secret",
                redirect_uris=[CALLBACK],
            )
        )
    return f"manual-{name}", secret


def basic(name: str, secret: str) -> dict[str, str]:
    return {"authorization": "Basic " + base64.b64encode(f"{name}:{secret}".encode()).decode()}


@pytest.mark.spec("s5.6.access_token_1h")
@pytest.mark.spec("s5.5.verifier_64_url_safe")
def test_the_success_answer_is_complete(ann: Browser) -> None:
    assert len(VERIFIER) == 64
    client_id = ann.register()
    answer = ann.redeem(client_id, ann.code(client_id))
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    body = answer.json()
    assert body.pop("access_token").startswith("awt_at_")
    assert body.pop("refresh_token").startswith("awt_rt_")
    assert body.pop("id_token").count(".") == 2
    assert body == {"token_type": "Bearer", "expires_in": 3600, "scope": "mcp:read openid email"}


@pytest.mark.spec("s5.6.access_token_1h")
def test_an_access_token_lives_one_hour(ann: Browser, later: Any) -> None:
    token = ann.tokens()["access_token"]
    later(timedelta(minutes=59, seconds=50))
    assert ann.alive(token)
    later(timedelta(seconds=20))
    assert not ann.alive(token)


@pytest.mark.spec("s5.5.pkce_mandatory")
@pytest.mark.parametrize(
    "verifier", [None, "", challenge(VERIFIER), "v" * 42, "v" * 129, VERIFIER[:-1] + " ", "w" * 64]
)
def test_a_code_is_worth_nothing_without_its_verifier(ann: Browser, verifier: str | None) -> None:
    client_id = ann.register()
    code = ann.code(client_id)
    answer = ann.redeem(client_id, code, code_verifier=verifier)
    assert answer.status_code == 400
    assert error_of(answer) in ("invalid_request", "invalid_grant")
    assert error_of(ann.redeem(client_id, code)) == "invalid_grant"


def test_a_verifier_with_a_line_end_is_not_read(ann: Browser) -> None:
    client_id = ann.register()
    answer = ann.redeem(client_id, ann.code(client_id), code_verifier=VERIFIER + "\n")
    assert error_of(answer) == "invalid_request"


@pytest.mark.parametrize("length", [43, 128])
def test_verifiers_of_every_allowed_length_work(ann: Browser, length: int) -> None:
    client_id = ann.register()
    code = ann.code(client_id, code_challenge=challenge("~" * length))
    assert ann.redeem(client_id, code, code_verifier="~" * length).status_code == 200


def test_another_client_can_neither_redeem_nor_spoil_a_code(ann: Browser) -> None:
    mine, theirs = ann.register(), ann.register(client_name="Other")
    code = ann.code(mine)
    assert error_of(ann.redeem(theirs, code)) == "invalid_grant"
    answer = ann.redeem(mine, code)
    assert answer.status_code == 200
    assert error_of(ann.redeem(theirs, code)) == "invalid_grant"
    assert ann.alive(answer.json()["access_token"])


def test_a_replayed_code_kills_what_it_gave(ann: Browser, published_events: list[dict[str, Any]]) -> None:
    client_id = ann.register()
    code = ann.code(client_id)
    tokens = ann.redeem(client_id, code).json()
    family = ann.introspect(tokens["access_token"])["family"]
    assert error_of(ann.redeem(client_id, code)) == "invalid_grant"
    assert not ann.alive(tokens["access_token"])
    assert error_of(ann.refresh(client_id, tokens["refresh_token"])) == "invalid_grant"
    assert published_events == [{"family": family}]


@pytest.mark.parametrize(
    "uri", [CALLBACK + "/", CALLBACK.replace("18250", "18251"), "https://evil.example/", CALLBACK + "?x=1"]
)
def test_the_redirect_uri_must_be_repeated_exactly(ann: Browser, uri: str | None) -> None:
    client_id = ann.register()
    assert error_of(ann.redeem(client_id, ann.code(client_id), redirect_uri=uri)) == "invalid_grant"


@pytest.mark.parametrize("uri", [None, ""])
def test_a_code_needs_no_redirect_uri_beside_its_verifier(ann: Browser, uri: str | None) -> None:
    client_id = ann.register()
    code = ann.code(client_id)
    assert error_of(ann.redeem(client_id, code, redirect_uri=uri, code_verifier="w" * 64)) == "invalid_grant"
    assert ann.redeem(client_id, ann.code(client_id), redirect_uri=uri).status_code == 200


def test_a_code_lives_one_minute(ann: Browser, later: Any) -> None:
    client_id = ann.register()
    code = ann.code(client_id)
    later(timedelta(seconds=61))
    assert error_of(ann.redeem(client_id, code)) == "invalid_grant"


def test_garbage_is_no_code(ann: Browser) -> None:
    client_id = ann.register()
    code = ann.code(client_id)
    flipped = code[:-1] + ("0" if code[-1] != "0" else "1")
    for bad in ("garbage", code[:-1], flipped, code + "x", mint("awt_ac_"), "x" * 4000):
        assert error_of(ann.redeem(client_id, bad)) == "invalid_grant"
    assert error_of(ann.redeem(client_id, "")) == "invalid_request"
    assert ann.redeem(client_id, code).status_code == 200


def test_tokens_of_one_kind_are_not_good_as_another(ann: Browser) -> None:
    tokens = ann.tokens()
    client_id = tokens["client_id"]
    assert error_of(ann.redeem(client_id, tokens["refresh_token"])) == "invalid_grant"
    assert error_of(ann.refresh(client_id, tokens["access_token"])) == "invalid_grant"
    assert error_of(ann.refresh(client_id, ann.code(client_id))) == "invalid_grant"
    assert not ann.alive(tokens["refresh_token"])


@pytest.mark.parametrize("kind", ["application/json", "multipart/form-data; boundary=x", "text/plain", None])
def test_only_forms_are_read(ann: Browser, kind: str | None) -> None:
    headers = {"content-type": kind} if kind else {}
    answer = ann.host.post("/oauth/token", content=b"grant_type=refresh_token", headers=headers)
    assert (answer.status_code, error_of(answer)) == (400, "invalid_request")


@pytest.mark.parametrize(
    "name", ["grant_type", "code", "code_verifier", "redirect_uri", "client_id", "refresh_token", "anything"]
)
def test_a_field_sent_twice_is_refused(ann: Browser, name: str) -> None:
    fields = {"grant_type": "authorization_code", "code": "c", "client_id": "x", name: ["a", "a"]}
    assert error_of(ann.token(fields)) == "invalid_request"


def test_the_body_has_limits(ann: Browser) -> None:
    assert error_of(ann.token({f"f{n}": "1" for n in range(500)})) == "invalid_request"
    assert error_of(ann.token({"grant_type": "x" * 5000})) == "invalid_request"
    assert error_of(ann.token({"x" * 65: "1"})) == "invalid_request"
    assert ann.token({f"f{n}": "x" * 4000 for n in range(5)}).status_code == 413
    for body in (b"a=\xff", b"a=%ff", b"a=%00", b"client_id=%C3%A9", b"a=%0d%0ab"):
        assert error_of(ann.host.post("/oauth/token", content=body, headers=FORM)) == "invalid_request"


def test_a_token_body_that_does_not_come_is_not_waited_for(ann: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    from starlette.requests import Request

    from auth_server.web import request_data
    from shared.asgi import BodyIncomplete

    async def never() -> Any:
        await asyncio.Event().wait()

    async def gone() -> Any:
        return {"type": "http.disconnect"}

    monkeypatch.setattr(request_data, "BODY_SECONDS", 0.01)
    for receive in (never, gone):
        with pytest.raises(BodyIncomplete):
            asyncio.run(request_data.read_form(Request({"type": "http", "headers": []}, receive)))
    monkeypatch.setattr("auth_server.oauth.handlers.read_form", _raise(BodyIncomplete()))
    assert ann.token({"grant_type": "x"}).status_code == 408


def _raise(error: Exception) -> Any:
    async def read(*_: Any, **__: Any) -> Any:
        raise error

    return read


@pytest.mark.parametrize("path", ["token", "revoke", "introspect", "register"])
def test_other_methods_of_the_token_endpoint_are_refused(ann: Browser, path: str) -> None:
    for method in ("GET", "PUT", "DELETE", "HEAD"):
        assert ann.send(method, f"/oauth/{path}").status_code == 405


@pytest.mark.parametrize("path", ["token", "revoke", "introspect"])
def test_nothing_may_stand_in_the_query(ann: Browser, path: str) -> None:
    answer = ann.host.post(f"/oauth/{path}?client_id=x", data={"token": "x"}, headers={"authorization": BASIC})
    assert (answer.status_code, error_of(answer)) == (400, "invalid_request")


@pytest.mark.parametrize(
    "grant",
    [
        "password",
        "client_credentials",
        "implicit",
        "urn:ietf:params:oauth:grant-type:device_code",
        "urn:ietf:params:oauth:grant-type:jwt-bearer",
        "urn:ietf:params:oauth:grant-type:token-exchange",
        'co"de',
    ],
)
def test_other_grants_do_not_exist(ann: Browser, grant: str) -> None:
    answer = ann.token({"grant_type": grant, "client_id": ann.register(), "username": "a", "password": "b"})
    assert error_of(answer) == "unsupported_grant_type"
    assert grant not in answer.text


def test_a_missing_grant_type_is_an_invalid_request(ann: Browser) -> None:
    assert error_of(ann.token({"client_id": ann.register()})) == "invalid_request"
    assert error_of(ann.token({"client_id": "x", "grant_type": ""})) == "invalid_request"


def test_another_resource_than_the_authorized_one_is_refused(ann: Browser) -> None:
    client_id = ann.register()
    code = ann.code(client_id, resource=RESOURCE)
    assert error_of(ann.redeem(client_id, code, resource="http://127.0.0.1:8000/mcp")) == "invalid_target"
    with transaction() as session:
        assert session.scalars(select(AccessToken)).all() == []


def test_a_deleted_or_unknown_client_is_told_by_401(ann: Browser) -> None:
    tokens = ann.tokens()
    with transaction() as session:
        session.execute(update(Client).values(disabled_at=Client.created_at))
    for answer in (
        ann.refresh(tokens["client_id"], tokens["refresh_token"]),
        ann.refresh("nobody", tokens["refresh_token"]),
        ann.redeem("nobody", "x"),
        ann.token({"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}),
    ):
        assert (answer.status_code, error_of(answer)) == (401, "invalid_client")
        assert answer.headers["www-authenticate"].startswith('Basic realm="')
    assert not ann.alive(tokens["access_token"])


def test_a_confidential_application_must_prove_itself(ann: Browser) -> None:
    client_id, secret = confidential(ann)
    _, other = confidential(ann, "other")
    code = ann.code(client_id)
    assert error_of(ann.redeem(client_id, code)) == "invalid_client"
    assert error_of(ann.redeem(client_id, code, client_secret=other)) == "invalid_client"
    fields = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK, "code_verifier": VERIFIER}
    answer = ann.token(fields, headers=basic(client_id, secret))
    assert answer.status_code == 200
    refresh = answer.json()["refresh_token"]
    assert error_of(ann.refresh(client_id, refresh)) == "invalid_client"
    assert ann.refresh(client_id, refresh, client_secret=secret).status_code == 200
    assert ann.redeem(client_id, ann.code(client_id), client_secret=secret, code_verifier=None).status_code == 400


def test_one_way_of_authentication_and_one_client_per_request(ann: Browser) -> None:
    client_id, secret = confidential(ann)
    fields = {"grant_type": "refresh_token", "refresh_token": "x"}
    both = ann.token({**fields, "client_secret": secret}, headers=basic(client_id, secret))
    assert error_of(both) == "invalid_request"
    two = ann.token({**fields, "client_id": "another"}, headers=basic(client_id, secret))
    assert error_of(two) == "invalid_request"
    same = ann.token({**fields, "client_id": client_id}, headers=basic(client_id, secret))
    assert error_of(same) == "invalid_grant"
    many = [("authorization", basic(client_id, secret)["authorization"])] * 2
    assert error_of(ann.host.post("/oauth/token", data=fields, headers=many)) == "invalid_request"


def test_a_public_client_has_no_secret_to_present(ann: Browser) -> None:
    client_id = ann.register()
    code = ann.code(client_id)
    assert error_of(ann.redeem(client_id, code, client_secret="x")) == "invalid_client"
    fields = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK, "code_verifier": VERIFIER}
    assert error_of(ann.token(fields, headers=basic(client_id, "x"))) == "invalid_client"


def test_basic_with_an_empty_password_is_a_public_clients_name(ann: Browser) -> None:
    client_id = ann.register()
    fields = {"grant_type": "authorization_code", "redirect_uri": CALLBACK, "code_verifier": VERIFIER}
    tokens = ann.token(fields | {"code": ann.code(client_id)}, headers=basic(client_id, "")).json()
    fields = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    refreshed = ann.token(fields | {"client_id": client_id}, headers=basic(client_id, ""))
    assert refreshed.status_code == 200
    end = {"token": refreshed.json()["refresh_token"]}
    assert ann.host.post("/oauth/revoke", data=end, headers=basic(client_id, "")).status_code == 200
    assert not ann.alive(refreshed.json()["access_token"])
    assert error_of(ann.token(fields | {"client_id": "another"}, headers=basic(client_id, ""))) == "invalid_request"
    made_by_hand, _ = confidential(ann)
    code = ann.code(made_by_hand)
    fields = {"grant_type": "authorization_code", "redirect_uri": CALLBACK, "code_verifier": VERIFIER, "code": code}
    assert error_of(ann.token(fields, headers=basic(made_by_hand, ""))) == "invalid_client"


@pytest.mark.parametrize(
    "header",
    ["Basic", "Basic ", "Basic !!!", "Basic eA==", "Basic eDo=", "Basic Onk=", "Bearer x", "Basic /////w==", "x"],
)
def test_a_malformed_authorization_header_is_answered_401(ann: Browser, header: str) -> None:
    answer = ann.token({"grant_type": "refresh_token", "refresh_token": "x"}, headers={"authorization": header})
    assert (answer.status_code, error_of(answer)) == (401, "invalid_client")
    raw = ann.host.post("/oauth/token", data={"grant_type": "x"}, headers={"authorization": b"Basic \xff\xfe"})
    assert raw.status_code == 401


def test_the_services_own_client_has_no_grants(ann: Browser) -> None:
    for grant in ("authorization_code", "refresh_token"):
        answer = ann.token({"grant_type": grant, "code": "x", "refresh_token": "x"}, headers={"authorization": BASIC})
        assert error_of(answer) == "unauthorized_client"


def test_errors_never_repeat_what_was_sent(ann: Browser) -> None:
    client_id = ann.register()
    marker = "MARKER0123456789"
    assert marker not in ann.redeem(client_id, marker).text
    for changed in ({"code_verifier": marker * 3}, {"redirect_uri": f"https://{marker}/"}):
        assert marker not in ann.redeem(client_id, ann.code(client_id), **changed).text
    for changed in ({"client_secret": marker}, {"resource": f"https://{marker}/"}):
        assert marker not in ann.refresh(client_id, marker, **changed).text
    assert marker not in ann.refresh(marker, marker).text
    assert marker not in ann.token({"grant_type": marker}).text


def test_a_disabled_persons_code_is_worth_nothing(ann: Browser) -> None:
    from shared.db.accounts import Account

    client_id = ann.register()
    code = ann.code(client_id)
    with transaction() as session:
        session.execute(update(Account).values(disabled_at=Account.created_at))
    assert error_of(ann.redeem(client_id, code)) == "invalid_grant"
