"""The connection to a person's TripIt: OAuth 1.0a, or a private calendar the person pastes."""

import json
import re
from collections.abc import Generator, Mapping
from datetime import timedelta
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import anyio.to_thread
import httpx
from authlib.oauth1 import ClientAuth

from shared import http
from shared.providers.connectors import Connector, Declined, Details, Grant, Pulled, Start
from shared.providers.contract import Unanswered
from shared.providers.tripit import feed, parse
from shared.settings import LOOPBACK, settings

MAX_PAGES, PER_PAGE = 20, 25
MAX_CALENDAR_BYTES = 1024 * 1024
MAX_TOKEN_BYTES = 8192
_TOKEN = re.compile(r"[!-~]{1,256}")
_FEED_PATH = "/feed/ical/private/"


class _Signed(httpx.Auth):
    """Signs each request by HMAC-SHA1, in its header."""

    def __init__(self, token: str | None = None, secret: str | None = None) -> None:
        key = settings().tripit_consumer_secret
        self._auth = ClientAuth(
            settings().tripit_consumer_key or "",
            client_secret=key.get_secret_value() if key else "",
            token=token,
            token_secret=secret,
        )

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        _, headers, _ = self._auth.prepare(request.method, str(request.url), {}, "")
        request.headers["Authorization"] = headers["Authorization"]
        yield request


def by_page() -> bool:
    return bool(settings().tripit_consumer_key and settings().tripit_consumer_secret)


async def _request_token(path: str, auth: _Signed) -> tuple[str, str]:
    async with http.client(settings().tripit_base_url, auth=auth) as client:
        try:
            raw = await http.post(client, path, limit=MAX_TOKEN_BYTES)
        except httpx.HTTPStatusError as error:
            if error.response.status_code == 401:  # also what a refusal on their page ends in
                raise Declined from None
            raise
    answer = parse_qs(raw.decode("ascii", "replace"))
    token, secret = (answer.get(name, [""])[0] for name in ("oauth_token", "oauth_token_secret"))
    if not (_TOKEN.fullmatch(token) and _TOKEN.fullmatch(secret)):
        raise Unanswered("down", "upstream_blocked" if b"<" in raw else "wrong_shape")
    return token, secret


async def start(redirect_uri: str, state: str) -> Start:
    """Their way back carries the request token alone, so our state travels in the address they go back to."""
    try:
        token, secret = await _request_token("/oauth/request_token", _Signed())
    except Declined:
        raise Unanswered("not_permitted", "http_401") from None
    query = {"oauth_token": token, "oauth_callback": f"{redirect_uri}?{urlencode({'state': state})}"}
    url = f"{settings().tripit_web_url}/oauth/authorize?{urlencode(query)}"
    return Start(url, {"token": token, "secret": secret})


async def finish(query: Mapping[str, str], saved: Mapping[str, str], _redirect_uri: str) -> Grant:
    if query.get("oauth_token") != saved["token"]:
        raise Unanswered("not_permitted", "refused")
    token, secret = await _request_token("/oauth/access_token", _Signed(saved["token"], saved["secret"]))
    return Grant(json.dumps({"token": token, "secret": secret}), details={"by": "interface"})


async def paste(text: str) -> Grant:
    """What was pasted is read once, so that a mistake shows at once."""
    text = text.strip()
    if text.upper().startswith("BEGIN:VCALENDAR"):
        if len(text.encode()) > MAX_CALENDAR_BYTES:
            raise Unanswered("not_covered", "wrong_shape")
        source, by = {"text": text}, "text"
    else:
        source, by = {"url": _feed_address(text)}, "calendar"
    await _read_calendar(source)
    return Grant(json.dumps(source), details={"by": by})


def _feed_address(text: str) -> str:
    """A private calendar of the one host, and nothing else."""
    parts = urlsplit(re.sub(r"^webcal://", "https://", text, flags=re.IGNORECASE))
    home = urlsplit(settings().tripit_web_url)
    local = home.hostname in LOOPBACK
    address = parts._replace(scheme=home.scheme) if local else parts
    same = (address.scheme, address.netloc.lower()) == (home.scheme, home.netloc.lower())
    path = home.path + _FEED_PATH
    if len(text) > 500 or not same or not parts.path.startswith(path) or ".." in parts.path or parts.query:
        raise Unanswered("not_covered", "wrong_shape")
    return address._replace(fragment="").geturl()


async def _read_calendar(source: Mapping[str, str]) -> Pulled:
    text = source["text"].encode() if "text" in source else await _download_calendar(source["url"])
    return await anyio.to_thread.run_sync(feed.parse_calendar, text, abandon_on_cancel=True)


async def _download_calendar(url: str) -> bytes:
    """Never reaches into our own network, whatever the name of the host stands for."""
    if urlsplit(url).hostname in LOOPBACK and urlsplit(settings().tripit_web_url).hostname in LOOPBACK:
        client = http.client()
    else:
        client = http.public_client(timeout=http.TIMEOUT)
    async with client:
        try:
            return await http.get(client, url, limit=MAX_CALENDAR_BYTES)
        except httpx.HTTPStatusError as error:
            if error.response.status_code in (401, 403, 404, 410):
                raise Unanswered("broken", "gone") from None
            raise


async def pull(credential: str, _details: Details) -> Pulled:
    source: dict[str, str] = json.loads(credential)
    if "token" not in source:
        return await _read_calendar(source)
    pages: list[dict[str, Any]] = []
    async with http.client(settings().tripit_base_url, auth=_Signed(source["token"], source["secret"])) as client:
        for page in range(1, MAX_PAGES + 1):
            document = await _fetch_page(client, page)
            pages.append(document)
            if page >= parse.count_pages(document):
                return parse.parse_trips(pages)
    raise Unanswered("not_covered", "too_many_rows")


async def _fetch_page(client: http.AsyncClient, page: int) -> dict[str, Any]:
    where = "/v1/list/trip/traveler/true/past/false/include_objects/true"
    try:
        raw = await http.get(client, f"{where}/page_num/{page}/page_size/{PER_PAGE}/format/json")
    except httpx.HTTPStatusError as error:
        if error.response.status_code == 401:
            raise Unanswered("broken", "refused") from None
        raise
    document = await anyio.to_thread.run_sync(partial(json.loads, raw), abandon_on_cancel=True)
    if not isinstance(document, dict):
        raise Unanswered("down", "wrong_shape")
    return document


CONNECTOR = Connector(
    title="TripIt",
    shares=(
        "This service may read your upcoming trips: flights, stays and their confirmation numbers.",
        "It changes nothing there, and copies only when you ask your assistant to.",
    ),
    configured=lambda: True,  # a calendar can be pasted without a key of the operator
    by_page=by_page,
    start=start,
    finish=finish,
    paste=paste,
    pull=pull,
    bearer=False,
    life=timedelta(minutes=5),
    used_by=("flight_bookings", "hotel_bookings"),
    after="In your TripIt settings you can also remove this application, or make a new private calendar address.",
)
