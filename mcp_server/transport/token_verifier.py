"""Verification of access tokens and API keys: looked up at the auth server (RFC 7662), cached for half a minute."""

import asyncio
import logging
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from functools import partial
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
from shared.db.outages import OUTAGES, run_again
from shared.domain.mcp_addresses import McpAddress, find_resource, is_covered
from shared.domain.plans import Plan
from shared.internal_api import AuthServerClient, may_be_token
from shared.limits import address_key, choose_limit, hit
from shared.secrets import digest
from shared.settings import SCOPE, settings
from shared.telemetry.call_context import note_account
from shared.telemetry.metrics import BEARER_CHECKS, count

# Limits on bad tokens by address; recently good tokens are never affected.

REFUSALS_PER_MINUTE = 600  # of one address, looked up at the auth server: guesses, or a host with many users
TRUSTED_REFUSALS_PER_MINUTE = 20_000  # of networks that act for many people: some 36,000 tokens an hour expire there
LOOKUPS_WHEN_CROWDED = 5  # unknown tokens of a crowded address still looked up each second
GOOD_SECONDS = 3600.0  # that a good token is remembered, by digest: an access token's lifetime
MAX_REMEMBERED = 50_000  # tokens, and addresses


class RefusalLimits:
    """Counts refused tokens of each address, and remembers which tokens were good within the last hour."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.good_until: OrderedDict[str, float] = OrderedDict()  # by digest of the token
        self.crowded_until: OrderedDict[str, float] = OrderedDict()  # by address
        self.lookups: dict[str, tuple[int, int]] = {}  # of crowded addresses: the second, and the count in it

    def remember_good(self, name: str) -> None:
        _put(self.good_until, name, time.monotonic() + GOOD_SECONDS)

    def find_wait(self, name: str, address: str) -> int:
        """Seconds that this token of this address must wait for its lookup, or 0."""
        now = time.monotonic()
        wait = self.crowded_until.get(address_key(address), 0.0) - now
        if wait <= 0 or self.good_until.get(name, 0.0) > now or self._take_lookup(address_key(address), int(now)):
            return 0
        return math.ceil(wait)

    def _take_lookup(self, address: str, second: int) -> bool:
        last_second, count = self.lookups.get(address, (second, 0))
        count = count + 1 if last_second == second else 1
        if len(self.lookups) > MAX_REMEMBERED:
            self.lookups.clear()
        self.lookups[address] = (second, count)
        return count <= LOOKUPS_WHEN_CROWDED

    def count_refusal(self, address: str) -> None:
        """Counts one more refused token; over the limit the address counts as crowded until the minute ends."""
        limit = choose_limit(address, REFUSALS_PER_MINUTE, TRUSTED_REFUSALS_PER_MINUTE) or REFUSALS_PER_MINUTE
        verdict = hit(f"refused:{self.prefix}:{address_key(address)}", limit, 60)
        if not verdict.allowed:
            _put(self.crowded_until, address_key(address), time.monotonic() + verdict.retry_after)


def _put(moments: "OrderedDict[str, float]", name: str, moment: float) -> None:
    """Adds an entry at the end; drops the oldest when there are too many."""
    moments[name] = moment
    moments.move_to_end(name)
    while len(moments) > MAX_REMEMBERED:
        moments.popitem(last=False)


log = logging.getLogger(__name__)
PREFIX = "awt_at_"  # prefix of every access token of the auth server
KEY_PREFIX = "awt_ak_"  # and every API key
ACCEPTED_SECONDS = 30.0  # that a good answer is cached
REFUSED_SECONDS = 5.0  # that a bad one is cached
GRACE_SECONDS = 60.0  # that a cached token is accepted longer while the auth server is down
RETRY_SECONDS = 1.0  # between two attempts to reach an auth server that is down
MAX_CACHED_TOKENS = 10_000  # good and bad tokens separately, so that guesses never evict users
LAST_SEEN_INTERVAL = timedelta(hours=1)
_CONNECTION_LOST = (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)


class Problem(Enum):
    """Why a token is refused: the OAuth error code and our sentence."""

    MISSING = ("invalid_token", "The request carries no access token.")
    INVALID = ("invalid_token", "The access token is unknown, expired, revoked or meant for another service.")
    SCOPE = ("insufficient_scope", f"The access token lacks the scope {SCOPE}.")


class TokenRejected(Exception):
    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.name)
        self.problem = problem


class RateLimited(Exception):
    """Too many bad tokens came from this address: its unknown tokens are not looked up for a while."""

    def __init__(self, seconds: int) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class AuthServerUnavailable(Exception):
    """The token or cookie could not be judged; clients must not discard their session."""


@dataclass
class VerifiedToken:
    """One good token: looked up again from `refresh_at` on, never accepted after `end`, not even in an outage."""

    caller: Caller
    family: str
    refresh_at: float
    end: float
    addresses: frozenset[McpAddress] = frozenset()  # of its audience; an API key has none


class TokenVerifier:
    """The tokens this process has looked up recently, by digest: no token itself is stored.

    `judge` turns the auth server's answer into the seconds for which the token is good, or into a problem.
    """

    def __init__(self, prefix: str = PREFIX, path: str = "/oauth/introspect", judge: "Judge | None" = None) -> None:
        self.prefix, self.path, self.judge = prefix, path, judge or _token_seconds
        self.cache: OrderedDict[str, VerifiedToken] = OrderedDict()
        self.refused: OrderedDict[str, tuple[float, Problem]] = OrderedDict()
        self.pending: dict[str, asyncio.Task[VerifiedToken | Problem]] = {}
        self.limits = RefusalLimits(prefix)
        self.events = 0
        self.auth_server = AuthServerClient()

    async def check(self, token: str, address: str = "", at: McpAddress | None = None) -> Caller:
        """Returns the caller. Raises TokenRejected, RateLimited or AuthServerUnavailable.

        `address` is where the request comes from, `at` our address it was sent to; the token must be for that
        one or for a wider one (RFC 8707). Without `at` no audience is needed: API keys have none.
        """
        verified = await self._verify(token, address)
        note_account(verified.caller.public_id)
        if at is not None and not any(is_covered(at, granted) for granted in verified.addresses):
            raise TokenRejected(Problem.INVALID)
        return verified.caller

    async def _verify(self, token: str, address: str) -> VerifiedToken:
        name = digest(token)
        cached, now = self.cache.get(name), time.monotonic()
        if cached is not None and now < cached.refresh_at:
            self.cache.move_to_end(name)
            self._count("remembered")
            return cached
        refused = self.refused.get(name)
        if refused is not None and now < refused[0]:
            self._count("refused")
            raise TokenRejected(refused[1])
        if not may_be_token(token, self.prefix):
            self._count("refused")
            raise TokenRejected(Problem.INVALID)
        if wait := self.limits.find_wait(name, address):
            self._count("limited")
            raise RateLimited(wait)
        self._count("looked_up")
        verdict = await asyncio.shield(self._start_lookup(name, token))
        if isinstance(verdict, Problem):
            await anyio.to_thread.run_sync(self.limits.count_refusal, address, limiter=limiter())
            raise TokenRejected(verdict)
        return verdict

    def _count(self, result: str) -> None:
        count(BEARER_CHECKS, "api_key" if self.prefix == KEY_PREFIX else "token", result)

    def _start_lookup(self, name: str, token: str) -> "asyncio.Task[VerifiedToken | Problem]":
        """One lookup per token at a time: callers that arrive in the meantime await the same one."""
        lookup = self.pending.get(name)
        if lookup is None:
            lookup = self.pending[name] = asyncio.ensure_future(self._look_up(name, token))
            lookup.add_done_callback(lambda _: self.pending.pop(name, None))
        return lookup

    async def _look_up(self, name: str, token: str) -> VerifiedToken | Problem:
        before = self.events
        try:
            verdict = await self._ask(token)
        except AuthServerUnavailable:
            return self._extend(name)
        self.cache.pop(name, None)
        if isinstance(verdict, VerifiedToken):
            self.limits.remember_good(name)
        if before != self.events:  # something was revoked during the lookup: use its answer once, do not cache it
            return verdict
        if isinstance(verdict, VerifiedToken):
            self.cache[name] = verdict
            _trim(self.cache)
        else:
            self.refused[name] = (time.monotonic() + REFUSED_SECONDS, verdict)
            _trim(self.refused)
        return verdict

    def _extend(self, name: str) -> VerifiedToken:
        """Accepts a cached token a while longer in an outage; one request a second tries the auth server again."""
        cached, now = self.cache.get(name), time.monotonic()
        if cached is None or now >= cached.end:
            raise AuthServerUnavailable
        cached.refresh_at = min(now + RETRY_SECONDS, cached.end)
        return cached

    async def _ask(self, token: str) -> VerifiedToken | Problem:
        document = await self._introspect(token)
        seconds = self.judge(document)
        if isinstance(seconds, Problem):
            return seconds
        try:
            caller = await anyio.to_thread.run_sync(run_again, partial(_load_caller, document), limiter=limiter())
        except SQLAlchemyError as error:
            OUTAGES.note(error)
            raise AuthServerUnavailable from None
        if caller is None:
            return Problem.INVALID
        now = time.monotonic()
        return VerifiedToken(
            caller,
            str(document.get("family", "")),
            refresh_at=now + min(ACCEPTED_SECONDS, seconds),
            end=now + min(ACCEPTED_SECONDS + GRACE_SECONDS, seconds),
            addresses=_find_addresses(document),
        )

    async def _introspect(self, token: str) -> dict[str, Any]:
        form = {"token": token, "token_type_hint": "access_token"}
        for last in (False, True):
            try:
                response = await self.auth_server.post(self.path, form)
                document = response.json() if response.status_code == 200 else None
                break
            except _CONNECTION_LOST:  # an idle connection the server has closed; introspection can be repeated safely
                if last:
                    raise AuthServerUnavailable from None
            except (httpx.HTTPError, ValueError):
                raise AuthServerUnavailable from None
        if not isinstance(document, dict):
            if response.status_code != 503:  # the answer itself says what is down
                log.warning("bearer: the auth server answered %s with status %d", self.path, response.status_code)
            raise AuthServerUnavailable
        return document

    def forget(self, event: dict[str, Any]) -> None:
        """Drops what an event names: a token (its digest), a family of tokens, an account, or a client's tokens.

        Refusals are dropped as well: a suspended account may be restored.
        """
        self.events += 1
        self.cache.pop(event.get("token", ""), None)
        family, account, client = (event.get(name) for name in ("family", "account", "client"))
        revoked = [
            name
            for name, token in self.cache.items()
            if token.family == family or token.caller.public_id == account or token.caller.client_id == client
        ]
        for name in revoked:
            del self.cache[name]
        if account or client:
            self.refused.clear()

    def forget_all(self) -> None:
        self.events += 1
        self.cache.clear()
        self.refused.clear()

    async def close(self) -> None:
        await self.auth_server.aclose()


def _trim(cache: "OrderedDict[str, Any]") -> None:
    while len(cache) > MAX_CACHED_TOKENS:
        cache.popitem(last=False)


Judge = Callable[[dict[str, Any]], float | Problem]


def api_key_verifier() -> TokenVerifier:
    return TokenVerifier(KEY_PREFIX, "/internal/api-key", _key_seconds)


def _token_seconds(document: dict[str, Any]) -> float | Problem:
    """How long the introspected token is good here: issued by us, for one of our resources (RFC 8707)."""
    ours = document.get("iss") == settings().web_url and bool(_find_addresses(document))
    expires = document.get("exp")
    if document.get("active") is not True or not ours or not isinstance(expires, int | float):
        return Problem.INVALID
    seconds = expires - clock.now().timestamp()
    if seconds <= 0:
        return Problem.INVALID
    return seconds if SCOPE in str(document.get("scope", "")).split() else Problem.SCOPE


def _find_addresses(document: dict[str, Any]) -> frozenset[McpAddress]:
    """The addresses of ours that the token's audience names, on any host."""
    aud = document.get("aud")
    audience = [name for name in (aud if isinstance(aud, list) else [aud]) if isinstance(name, str)]
    addresses = (find_resource(name, settings().resources) for name in audience)
    return frozenset(address for address in addresses if address is not None)


def _key_seconds(document: dict[str, Any]) -> float | Problem:
    """How long a key is good here; it does not expire by itself."""
    ours = document.get("active") is True and document.get("iss") == settings().web_url
    return ACCEPTED_SECONDS + GRACE_SECONDS if ours else Problem.INVALID


def _load_caller(document: dict[str, Any]) -> Caller | None:
    """The account of the token, read on a database thread; `last_seen_at` is written once an hour."""
    columns = (
        Account.id,
        Account.public_id,
        Account.plan,
        Account.is_admin,
        Account.api_calls_per_month,
        Account.disabled_at,
        Account.last_seen_at,
        Account.has_person,
    )
    now = clock.now()
    with transaction() as session:
        row = session.execute(select(*columns).where(Account.public_id == str(document.get("sub")))).one_or_none()
        if row is None or row.disabled_at is not None:
            return None
        if row.last_seen_at is None or now - row.last_seen_at >= LAST_SEEN_INTERVAL:
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
        has_person=row.has_person,
        read_only=document.get("read_only") is True,
        may_administer=document.get("administer") is True,
        on_page=document.get("page") is True,
    )
