"""The connection to a person's TripIt: OAuth 1.0a, or a private calendar the person pastes."""

import hashlib
import json
import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from zoneinfo import ZoneInfo

import anyio.to_thread
import httpx
from authlib.oauth1 import ClientAuth

from shared import http
from shared.limits.heavy_work import run_heavy
from shared.processes.bounded_process import Budget, ReaderEnded, read_bounded
from shared.providers.connectors import Connector, Declined, Details, Grant, Leg, Pulled, Start, Stay
from shared.providers.contract import Unanswered
from shared.providers.tripit.calendar_events import Event, read_or_none
from shared.reference.load import reference
from shared.settings import LOOPBACK, settings

# Parser of TripIt's trips. All scalars are text, and a one-element list is just that element.

_CARRIER = re.compile(r"[A-Z0-9]{2}")
_AIRPORT = re.compile(r"[A-Z]{3}")
_NUMBER = re.compile(r"\d{1,4}[A-Z]?")
CABINS = {"economy": "economy", "premium economy": "premium_economy", "business": "business", "first": "first"}


def count_pages(document: Mapping[str, Any]) -> int:
    text = str(document.get("max_page", "1"))
    return int(text) if text.isdecimal() and len(text) < 4 else 1


def parse_trips(documents: Sequence[Mapping[str, Any]]) -> Pulled:
    """Reads all pages together; an object on two pages counts once."""
    air = _drop_duplicates(entry for d in documents for entry in _list_objects(d.get("AirObject")))
    lodging = _drop_duplicates(entry for d in documents for entry in _list_objects(d.get("LodgingObject")))
    listed = _drop_duplicates(entry for d in documents for entry in _list_objects(d.get("Trip")))
    segments = [(entry, number, s) for entry in air for number, s in enumerate(_list_objects(entry.get("Segment")), 1)]
    legs = [_parse_leg(entry, number, segment) for entry, number, segment in segments]
    stays = [_parse_stay(entry) for entry in lodging]
    return Pulled(
        legs=tuple(leg for leg in legs if leg),
        stays=tuple(stay for stay in stays if stay),
        trips=len(listed),
        unreadable=legs.count(None) + stays.count(None),
    )


def _list_objects(value: Any) -> list[dict[str, Any]]:
    values = value if isinstance(value, list) else [value]
    return [entry for entry in values if isinstance(entry, dict)]


def _drop_duplicates(entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return list({str(entry.get("id")): entry for entry in entries}.values())


def _parse_leg(entry: Mapping[str, Any], number: int, segment: Mapping[str, Any]) -> Leg | None:
    carrier = _match_text(_CARRIER, segment.get("marketing_airline_code"))
    origin, destination = (_match_text(_AIRPORT, segment.get(f"{end}_airport_code")) for end in ("start", "end"))
    leaves, arrives = _parse_time(segment.get("StartDateTime")), _parse_time(segment.get("EndDateTime"))
    if not carrier or not origin or not destination or leaves[0] is None:
        return None
    flight = _match_text(_NUMBER, segment.get("marketing_flight_number"))
    return Leg(
        ref=f"tripit:air:{_clean_id(entry)}:{_clean_id(segment) or number}",
        airline=carrier,
        flight_number=f"{carrier}{flight}" if flight else None,
        origin=origin,
        destination=destination,
        departure_date=leaves[0],
        departure_time=leaves[1],
        arrival_date=arrives[0],
        arrival_time=arrives[1],
        cabin=CABINS.get(str(segment.get("service_class", "")).strip().lower()),
        confirmation_number=_clean_text(entry.get("supplier_conf_num"), 20),
    )


def _parse_stay(entry: Mapping[str, Any]) -> Stay | None:
    (first, _), (last, _) = _parse_time(entry.get("StartDateTime")), _parse_time(entry.get("EndDateTime"))
    name = _clean_text(entry.get("supplier_name"), 160) or _clean_text(entry.get("display_name"), 160)
    if first is None or last is None or last <= first or not name:
        return None
    return Stay(
        f"tripit:lodging:{_clean_id(entry)}", name, first, last, _clean_text(entry.get("supplier_conf_num"), 20)
    )


def _clean_id(entry: Mapping[str, Any]) -> str:
    return re.sub(r"[^A-Za-z0-9-]", "", str(entry.get("id", "")))[:40]


def _clean_text(value: Any, most: int) -> str | None:
    text = " ".join(value.split()) if isinstance(value, str) else ""
    return text[:most] or None


def _match_text(pattern: re.Pattern[str], value: Any) -> str | None:
    text = str(value or "").strip().upper()
    return text if pattern.fullmatch(text) else None


def _parse_time(value: Any) -> tuple[date | None, time | None]:
    """Parses their local time."""
    fields = value if isinstance(value, dict) else {}
    try:
        day = date.fromisoformat(str(fields["date"]))
    except (KeyError, ValueError):
        return None, None
    try:
        return day, time.fromisoformat(str(fields["time"])).replace(tzinfo=None)
    except (KeyError, ValueError):
        return day, None


# Parser of TripIt's iCalendar feed: flights and stays; other events are left out.

_BUDGET = Budget(processor_seconds=5, seconds=15, memory_bytes=384 << 20)  # a feed of 2,000 events takes 0.6 s
_FLIGHT = re.compile(r"\b([A-Z][A-Z0-9]|[0-9][A-Z]) ?(\d{1,4})\b[ :,]*\(?([A-Z]{3})\)? ?(?:to|-|–|→) ?\(?([A-Z]{3})\b")
_STAY = re.compile(r"(check[- ]?in|check[- ]?out) ?(?::|at|-)? *(.+)", re.IGNORECASE)
_CONFIRMATION = re.compile(r"confirmation ?(?:#|number|no\.?|code)?:? *#? *([A-Z0-9]{4,20})\b", re.IGNORECASE)


def parse_calendar(raw: bytes) -> Pulled:
    """Flights and stays. Raises Unanswered for anything but a calendar, or one too slow to read."""
    try:
        events = read_bounded(_BUDGET, read_or_none, raw)
    except ReaderEnded:
        events = None
    if events is None:
        raise Unanswered("not_covered", "wrong_shape")
    legs = [leg for event in events if (leg := _parse_feed_leg(event))]
    return Pulled(legs=tuple(legs), stays=tuple(_pair_stays(events)))


def _parse_feed_leg(event: Event) -> Leg | None:
    flight, leaves = _FLIGHT.search(event.summary), event.start
    if flight is None or leaves is None:
        return None
    carrier, number, origin, destination = flight.groups()
    day, hour = _to_local_time(leaves, origin)
    arrives = _to_local_time(event.end, destination) if event.end else (None, None)
    return Leg(
        ref=_build_ref(event),
        airline=carrier,
        flight_number=f"{carrier}{number}",
        origin=origin,
        destination=destination,
        departure_date=day,
        departure_time=hour,
        arrival_date=arrives[0] if hour else None,
        arrival_time=arrives[1],
        cabin=None,
        confirmation_number=_parse_confirmation(event),
    )


def _to_local_time(moment: date | datetime, airport: str) -> tuple[date, time | None]:
    """Converts a calendar's UTC to the airport's time, as on tickets."""
    if not isinstance(moment, datetime):
        return moment, None
    airport_row = reference().airports.get(airport)
    if moment.tzinfo is not None and airport_row is not None:
        moment = moment.astimezone(ZoneInfo(airport_row.tz))
    return moment.date(), moment.time().replace(second=0, microsecond=0, tzinfo=None)


def _pair_stays(events: Sequence[Event]) -> list[Stay]:
    """Joins an arrival and the next departure at the same hotel into a stay."""
    ends: list[tuple[str, str, date, Event]] = []
    for event in events:
        match, start = _STAY.match(event.summary), event.start
        if match and start:
            day = start.date() if isinstance(start, datetime) else start
            ends.append((match[2].strip()[:160], "in" if "in" in match[1].lower() else "out", day, event))
    stays, used = [], set()
    for name, _, first, event in sorted((e for e in ends if e[1] == "in"), key=lambda e: e[2]):
        later = [(day, i) for i, (n, way, day, _) in enumerate(ends) if (n, way) == (name, "out") and day > first]
        free_ends = sorted((day, i) for day, i in later if i not in used)
        if free_ends:
            used.add(free_ends[0][1])
            stays.append(Stay(_build_ref(event), name, first, free_ends[0][0], _parse_confirmation(event)))
    return stays


def _build_ref(event: Event) -> str:
    """Their name of the entry, shortened to a fixed length whatever its content."""
    return "tripit:ical:" + hashlib.sha256(event.uid.encode()).hexdigest()[:24]


def _parse_confirmation(event: Event) -> str | None:
    match = _CONFIRMATION.search(event.description)
    return match[1].upper() if match else None


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
            if error.response.status_code == 401:  # also after a refusal on their page
                raise Declined from None
            raise
    answer = parse_qs(raw.decode("ascii", "replace"))
    token, secret = (answer.get(name, [""])[0] for name in ("oauth_token", "oauth_token_secret"))
    if not (_TOKEN.fullmatch(token) and _TOKEN.fullmatch(secret)):
        raise Unanswered("down", "upstream_blocked" if b"<" in raw else "wrong_shape")
    return token, secret


async def start(redirect_uri: str, state: str) -> Start:
    """Their redirect carries only the request token, so our state travels in the address they go back to."""
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
    """Reads the pasted text at once, so that mistakes show immediately."""
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
    """The address of a private calendar on TripIt's host. Raises Unanswered for any other."""
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
    return await run_heavy(parse_calendar, text)


async def _download_calendar(url: str) -> bytes:
    """Never reaches into our own network, whatever the host name resolves to."""
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
            if page >= count_pages(document):
                return parse_trips(pages)
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
    configured=lambda: True,  # a calendar can be pasted without an operator's key
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
