"""Identity providers on loopback: OpenID Connect and GitHub's OAuth, in one server that answers as it is told."""

import json
import logging
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

import pytest
import uvicorn
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from auth_server.accounts import provider_documents
from auth_server.oauth.client_auth import parse_basic
from shared import clock

CLIENT, SECRET = "our client", "s:cret of/our client"
ENDPOINTS = {"authorization": "authorize", "token": "token", "userinfo": "userinfo"}
Fields = dict[str, str]


@lru_cache(maxsize=1)
def _make_key() -> RSAKey:
    """One for all tests: to make it takes longer than most of them."""
    return RSAKey.generate_key(2048, {"use": "sig"}, auto_kid=True)


@dataclass
class Outside:
    """What the fakes know and how they answer; a test changes it."""

    base: str = ""
    key: RSAKey = field(default_factory=_make_key)
    published: list[Any] | None = None  # the public keys, when others than the signing one
    subject: str = "subject-1"
    address: str = "ann@example.test"
    claims: dict[str, Any] = field(default_factory=dict)  # over those of a good ID token; None leaves one out
    header: dict[str, Any] = field(default_factory=dict)
    sign: Callable[[dict[str, Any]], str] | None = None
    profile: dict[str, Any] | None = None  # of the userinfo endpoint
    metadata: dict[str, Any] = field(default_factory=dict)
    answers: dict[str, Callable[[], Response] | str] = field(default_factory=dict)  # by path; "hang" never answers
    user: Any = field(default_factory=lambda: {"id": 4711, "login": "ann", "email": "somebody@else.test"})
    emails: Any = field(
        default_factory=lambda: [
            {"email": "other@example.test", "primary": False, "verified": True},
            {"email": "ann@example.test", "primary": True, "verified": True},
        ]
    )
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    @property
    def issuer(self) -> str:
        return f"{self.base}/oidc"

    def count(self, path: str) -> int:
        return sum(one == path for one, _ in self.requests)

    def last(self, path: str) -> dict[str, str]:
        return next(fields for one, fields in reversed(self.requests) if one == path)


def _redirect_with_code(world: Outside, query: dict[str, str]) -> str:
    code = secrets.token_urlsafe(8)
    world.codes[code] = query
    answer = {"code": code, "state": query["state"]}
    return f"{query['redirect_uri']}?{urlencode(answer)}"


def _is_our_client(request: Request, form: dict[str, str]) -> bool:
    basic = parse_basic(request.headers.get("authorization", ""))
    return (CLIENT, SECRET) in (basic, (form.get("client_id"), form.get("client_secret")))


def _spend_code(world: Outside, request: Request, form: dict[str, str]) -> dict[str, str] | None:
    """The authorization request of a code that is redeemed as it has to be, once."""
    query = world.codes.pop(form.get("code", ""), None)
    if query is None or not _is_our_client(request, form) or form["redirect_uri"] != query["redirect_uri"]:
        return None
    challenge = create_s256_code_challenge(form.get("code_verifier", ""))
    return query if (query["code_challenge_method"], query["code_challenge"]) == ("S256", challenge) else None


def _make_id_token(world: Outside, query: dict[str, str]) -> str:
    now = int(clock.now().timestamp())
    claims = {
        "iss": world.issuer,
        "sub": world.subject,
        "aud": CLIENT,
        "iat": now,
        "exp": now + 300,
        "nonce": query.get("nonce"),
        "email": world.address,
        "email_verified": True,
    }
    claims = {name: value for name, value in (claims | world.claims).items() if value is not None}
    if world.sign is not None:
        return world.sign(claims)
    return jwt.encode({"alg": "RS256", "kid": world.key.kid} | world.header, claims, world.key)


class Fakes:
    """The endpoints of both providers."""

    def __init__(self, world: Outside) -> None:
        self.world = world

    def describe(self, _: Request, __: Fields) -> Response:
        issuer = self.world.issuer
        content = {"issuer": issuer, "jwks_uri": f"{issuer}/keys"}
        content |= {f"{name}_endpoint": f"{issuer}/{path}" for name, path in ENDPOINTS.items()}
        return JSONResponse(content | self.world.metadata)

    def list_keys(self, _: Request, __: Fields) -> Response:
        return JSONResponse({"keys": self.world.published or [self.world.key.as_dict(private=False)]})

    def authorize(self, _: Request, query: Fields) -> Response:
        """A page with a button, as a person sees it there."""
        link = _redirect_with_code(self.world, query)
        return HTMLResponse(f"<!doctype html><title>Provider</title><a id=allow href={json.dumps(link)}>Allow</a>")

    def redeem(self, request: Request, form: Fields) -> Response:
        query = _spend_code(self.world, request, form)
        if query is None:
            return JSONResponse({"error": "invalid_grant"}, 400)
        answer = {"access_token": "outside-token", "token_type": "Bearer", "expires_in": 60}
        return JSONResponse(answer | {"id_token": _make_id_token(self.world, query)})

    def redeem_at_github(self, request: Request, form: Fields) -> Response:
        if _spend_code(self.world, request, form) is None:
            return JSONResponse({"error": "bad_verification_code"})  # with status 200, as GitHub does
        return JSONResponse({"access_token": "outside-token", "token_type": "bearer", "scope": "user:email"})

    def describe_person(self, request: Request, _: Fields) -> Response:
        if request.headers.get("authorization") != "Bearer outside-token":
            return JSONResponse({"message": "Bad credentials"}, 401)
        world = self.world
        contents = {"/oidc/userinfo": world.profile or {}, "/api/user": world.user, "/api/user/emails": world.emails}
        return JSONResponse(contents[request.url.path])


def _serve(world: Outside, path: str, answer: Callable[[Request, Fields], Response], method: str = "GET") -> Route:
    async def endpoint(request: Request) -> Response:
        pairs = await request.form() if method == "POST" else request.query_params
        fields = {name: str(value) for name, value in pairs.items()}
        world.requests.append((path, fields))
        told = world.answers.get(path)
        if told == "hang":  # until the caller gives up
            while (await request.receive())["type"] != "http.disconnect":
                pass
            return Response()
        return told() if callable(told) else answer(request, fields)

    return Route(path, endpoint, methods=[method])


def build_application(world: Outside) -> Starlette:
    fakes = Fakes(world)
    routes = [
        _serve(world, "/oidc/.well-known/openid-configuration", fakes.describe),
        _serve(world, "/oidc/keys", fakes.list_keys),
        _serve(world, "/oidc/authorize", fakes.authorize),
        _serve(world, "/oidc/token", fakes.redeem, "POST"),
        _serve(world, "/oidc/userinfo", fakes.describe_person),
        _serve(world, "/login/oauth/authorize", fakes.authorize),
        _serve(world, "/login/oauth/access_token", fakes.redeem_at_github, "POST"),
        _serve(world, "/api/user", fakes.describe_person),
        _serve(world, "/api/user/emails", fakes.describe_person),
    ]
    return Starlette(routes=routes)


def make_settings(world: Outside) -> str:
    client = {"client_id": CLIENT, "client_secret": SECRET}
    acme = {"title": "Acme", "issuer": world.issuer}
    return json.dumps(
        {"acme": client | acme, "github": client | {"issuer": world.base, "api_url": f"{world.base}/api"}}
    )


@pytest.fixture(scope="session")
def serving() -> Iterator[Outside]:
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    world = Outside()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        world.base = f"http://127.0.0.1:{listening.getsockname()[1]}"
        server = uvicorn.Server(uvicorn.Config(build_application(world), log_config=None, lifespan="off", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        yield world
        server.should_exit = True
        thread.join(20)


@pytest.fixture
def outside(serving: Outside, clean: None, configure: Callable[..., None]) -> Outside:
    """Both providers configured, on loopback, and as good as new."""
    serving.__dict__.update(Outside(base=serving.base).__dict__)
    provider_documents.forget_documents()
    configure(OIDC_PROVIDERS=make_settings(serving))
    return serving
