"""A token or an API key goes in, the caller behind it comes out: asked at the auth server, kept half a minute."""

import asyncio
import logging
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import Any

import anyio.to_thread
import httpx
from sqlalchemy import select, update
from sqlalchemy.exc import SQLAlchemyError

from mcp_server.toolkit.context import Caller
from mcp_server.toolkit.thread_limiter import limiter
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.domain.plans import Plan
from shared.internal_api import AuthServerClient
from shared.limits import address_key, hit
from shared.secrets import digest, well_formed
from shared.settings import SCOPE, settings

log = logging.getLogger(__name__)
PREFIX = "awt_at_"  # how the auth server begins every access token
KEY_PREFIX = "awt_ak_"  # and every API key
REMEMBERED = 30.0  # seconds a good answer is believed
REFUSED = 5.0  # seconds a bad one is
GRACE = 60.0  # seconds a known token is served on while the auth server is away
AGAIN = 1.0  # seconds between two attempts at an auth server that is away
SIZE = 10_000  # tokens remembered, good and bad apart, so that strangers never push out users
REFUSALS_PER_MINUTE = 600  # of one address that the auth server was asked about: guesses, or a host of many people
SEEN_EVERY = timedelta(hours=1)
_BROKEN = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)


class Problem(Enum):
    """Why a token is refused: the OAuth error code and our sentence."""

    INVALID = ("invalid_token", "The access token is unknown, expired, revoked or meant for another service.")
    SCOPE = ("insufficient_scope", f"The access token lacks the scope {SCOPE}.")


class TokenRejected(Exception):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.name)
        self.problem = problem


class RateLimited(Exception):
    """So many bad tokens came from this address that no unknown one of it is looked up for a while."""

    def __init__(self, seconds: int) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class AuthServerUnavailable(Exception):
    """Nobody can say right now whether the token is good; the session must not be thrown away for that."""


@dataclass
class Known:
    """One good token. `until`: ask again then. `end`: never believed after, even while nobody can be asked."""

    caller: Caller
    family: str
    until: float
    end: float


class TokenVerifier:
    """The tokens this process has lately asked about. Names are digests; no token is kept.

    `judge` turns the auth server's answer into the seconds for which the token is good, or into a problem.
    """

    def __init__(self, prefix: str = PREFIX, path: str = "/oauth/introspect", judge: "Judge | None" = None) -> None:
        self.prefix, self.path, self.judge = prefix, path, judge or _token_seconds
        self.known: OrderedDict[str, Known] = OrderedDict()
        self.refused: OrderedDict[str, tuple[float, Problem]] = OrderedDict()
        self.flights: dict[str, asyncio.Task[Known | Problem]] = {}
        self.crowds: OrderedDict[str, float] = OrderedDict()  # addresses, and until when they are not listened to
        self.events = 0
        self.auth_server = AuthServerClient()

    async def check(self, token: str, address: str = "") -> Caller:
        """The caller; raises Denied, Crowded, or Away when the auth server cannot be asked."""
        name = digest(token)
        known, now = self.known.get(name), time.monotonic()
        if known is not None and now < known.until:
            self.known.move_to_end(name)
            return known.caller
        refused = self.refused.get(name)
        if refused is not None and now < refused[0]:
            raise TokenRejected(refused[1])
        if not well_formed(token, self.prefix):
            raise TokenRejected(Problem.INVALID)
        if (wait := self.crowds.get(address, 0) - now) > 0:
            raise RateLimited(math.ceil(wait))
        verdict = await asyncio.shield(self._flight(name, token))
        if isinstance(verdict, Problem):
            await self._count(address)
            raise TokenRejected(verdict)
        return verdict.caller

    async def _count(self, address: str) -> None:
        """One more refusal; over the limit the address has to wait for the minute to end."""
        what = f"refused:{self.prefix}:{address_key(address)}"
        verdict = await anyio.to_thread.run_sync(hit, what, REFUSALS_PER_MINUTE, 60, limiter=limiter())
        if not verdict.allowed:
            self.crowds[address] = time.monotonic() + verdict.retry_after
            _trim(self.crowds)

    def _flight(self, name: str, token: str) -> "asyncio.Task[Known | Problem]":
        """One question per token at a time: callers that arrive meanwhile wait for the same answer."""
        flight = self.flights.get(name)
        if flight is None:
            flight = self.flights[name] = asyncio.ensure_future(self._look_up(name, token))
            flight.add_done_callback(lambda _: self.flights.pop(name, None))
        return flight

    async def _look_up(self, name: str, token: str) -> Known | Problem:
        before = self.events
        try:
            verdict = await self._ask(token)
        except AuthServerUnavailable:
            return self._kept(name)
        self.known.pop(name, None)
        if before != self.events:  # something was revoked while we asked: true for this request, not to be kept
            return verdict
        if isinstance(verdict, Known):
            self.known[name] = verdict
            _trim(self.known)
        else:
            self.refused[name] = (time.monotonic() + REFUSED, verdict)
            _trim(self.refused)
        return verdict

    def _kept(self, name: str) -> Known:
        """A token known until lately serves on for a while; the next attempt waits a second, not each request."""
        known, now = self.known.get(name), time.monotonic()
        if known is None or now >= known.end:
            raise AuthServerUnavailable
        known.until = min(now + AGAIN, known.end)
        return known

    async def _ask(self, token: str) -> Known | Problem:
        document = await self._introspect(token)
        seconds = self.judge(document)
        if isinstance(seconds, Problem):
            return seconds
        try:
            caller = await anyio.to_thread.run_sync(_caller, document, limiter=limiter())
        except SQLAlchemyError:
            log.warning("bearer: the database is away")
            raise AuthServerUnavailable from None
        if caller is None:
            return Problem.INVALID
        now = time.monotonic()
        fresh = min(REMEMBERED, seconds)
        return Known(caller, str(document.get("family", "")), now + fresh, now + min(REMEMBERED + GRACE, seconds))

    async def _introspect(self, token: str) -> dict[str, Any]:
        form = {"token": token, "token_type_hint": "access_token"}
        for last in (False, True):
            try:
                response = await self.auth_server.post(self.path, form)
                document = response.json() if response.status_code == 200 else None
                break
            except _BROKEN:  # a kept connection the other side has closed: asking twice changes nothing
                if last:
                    raise AuthServerUnavailable from None
            except (httpx.HTTPError, ValueError):
                raise AuthServerUnavailable from None
        if not isinstance(document, dict):
            log.warning("bearer: the auth server answered %s with status %d", self.path, response.status_code)
            raise AuthServerUnavailable
        return document

    def forget(self, event: dict[str, Any]) -> None:
        """Drops what an event names: a token (its digest), a family of tokens, or an account."""
        self.events += 1
        self.known.pop(event.get("token", ""), None)
        family, account = event.get("family"), event.get("account")
        gone = [n for n, k in self.known.items() if k.family == family or k.caller.public_id == account]
        for name in gone:
            del self.known[name]

    def forget_all(self) -> None:
        self.events += 1
        self.known.clear()
        self.refused.clear()

    async def close(self) -> None:
        await self.auth_server.aclose()


def _trim(cache: "OrderedDict[str, Any]") -> None:
    while len(cache) > SIZE:
        cache.popitem(last=False)


Judge = Callable[[dict[str, Any]], float | Problem]


def api_key_verifier() -> TokenVerifier:
    return TokenVerifier(KEY_PREFIX, "/internal/api-key", _key_seconds)


def _token_seconds(document: dict[str, Any]) -> float | Problem:
    """How long the introspected token is good here, unless it is not ours or not meant for us."""
    meant_for = document.get("aud")
    audience = meant_for if isinstance(meant_for, list) else [meant_for]
    ours = document.get("iss") == settings().web_url and any(a in settings().resources for a in audience)
    expires = document.get("exp")
    if document.get("active") is not True or not ours or not isinstance(expires, int | float):
        return Problem.INVALID
    seconds = expires - clock.now().timestamp()
    if seconds <= 0:
        return Problem.INVALID
    return seconds if SCOPE in str(document.get("scope", "")).split() else Problem.SCOPE


def _key_seconds(document: dict[str, Any]) -> float | Problem:
    """A key has no end of its own."""
    ours = document.get("active") is True and document.get("iss") == settings().web_url
    return REMEMBERED + GRACE if ours else Problem.INVALID


def _caller(document: dict[str, Any]) -> Caller | None:
    """The account behind the token, read on a database thread; that it was seen is noted once an hour."""
    columns = (
        Account.id,
        Account.public_id,
        Account.plan,
        Account.is_admin,
        Account.api_calls_per_month,
        Account.disabled_at,
        Account.last_seen_at,
    )
    now = clock.now()
    with transaction() as session:
        row = session.execute(select(*columns).where(Account.public_id == str(document.get("sub")))).one_or_none()
        if row is None or row.disabled_at is not None:
            return None
        if row.last_seen_at is None or now - row.last_seen_at >= SEEN_EVERY:
            session.execute(update(Account).where(Account.id == row.id).values(last_seen_at=now))
    client_id = str(document.get("client_id", ""))
    return Caller(
        account_id=row.id,
        public_id=row.public_id,
        plan=Plan.of(row.plan),
        is_admin=row.is_admin,
        client_id=client_id,
        client_name=str(document.get("client_name") or client_id),
        api_calls_per_month=row.api_calls_per_month,
        read_only=document.get("read_only") is True,
    )
