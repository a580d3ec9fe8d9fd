"""Requests for watched public files: bounded in size and time, without redirects, and as robots.txt allows."""

from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit
from urllib.robotparser import RobotFileParser

import anyio
import httpx

from shared import http
from shared.limits.concurrency import gather_limited
from shared.reference.rows.watched import WatchedSource

MAX_BYTES = 4 * 1024 * 1024
MAX_SECONDS = 12.0  # of one file: sixteen of them, four at once, end within the time of a job
MAX_ROBOTS_BYTES, MAX_ROBOTS_SECONDS = 512 * 1024, 4.0
MAX_TAG_CHARACTERS = 200
_AT_ONCE = 4
_NOT_FOUND = range(400, 500)  # no robots.txt means that everything may be read (RFC 9309 2.3.1.3)


class FetchFailed(Exception):
    """A file could not be fetched; the text says why, in our words."""


@dataclass(frozen=True)
class SourceRequest:
    """A file to request, and the tag of its stored version."""

    source: WatchedSource
    etag: str | None


@dataclass(frozen=True)
class SourceAnswer:
    """The result of a request: a body, nothing new (neither body nor fault), or a fault in our words."""

    source: WatchedSource
    body: bytes | None = None
    etag: str | None = None
    fault: str | None = None


async def fetch_sources(requests: list[SourceRequest]) -> list[SourceAnswer]:
    """Every file, a few at once and each once, however many sources are in it. Never raises for a server's fault."""
    tags: dict[str, set[str | None]] = {}
    for request in requests:
        tags.setdefault(request.source.url, set()).add(request.etag)
    async with http.client() as client:
        hosts = list({_host(url) for url in tags})
        rules = await gather_limited([partial(_read_robots, client, host) for host in hosts], _AT_ONCE)
        robots = dict(zip(hosts, rules, strict=True))
        files = await gather_limited(
            [partial(_fetch_file, client, url, _agree(tags[url]), robots[_host(url)]) for url in tags], _AT_ONCE
        )
    by_url = dict(zip(tags, files, strict=True))
    return [_answer(request.source, by_url[request.source.url]) for request in requests]


def _agree(tags: set[str | None]) -> str | None:
    """The tag common to all sources of a file; None if they were read at different times."""
    return next(iter(tags)) if len(tags) == 1 else None


def _answer(source: WatchedSource, file: http.Revalidation | FetchFailed) -> SourceAnswer:
    if isinstance(file, FetchFailed):
        return SourceAnswer(source, fault=str(file))
    etag = file.etag if len(file.etag or "") <= MAX_TAG_CHARACTERS else None
    return SourceAnswer(source, file.body, etag)


def _host(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


async def _read_robots(client: http.AsyncClient, host: str) -> RobotFileParser | None:
    """The host's rules; None if unreadable, so that nothing is requested now."""
    rules = RobotFileParser()
    try:
        with anyio.fail_after(MAX_ROBOTS_SECONDS):
            text = await http.get(client, f"{host}/robots.txt", limit=MAX_ROBOTS_BYTES)
    except httpx.HTTPStatusError as error:
        if error.response.status_code not in _NOT_FOUND:
            return None
        text = b""
    except (httpx.HTTPError, http.Refused, TimeoutError):
        return None
    rules.parse(text.decode("utf-8", "replace").splitlines())
    return rules


async def _fetch_file(
    client: http.AsyncClient, url: str, etag: str | None, robots: RobotFileParser | None
) -> http.Revalidation | FetchFailed:
    if robots is None:
        return FetchFailed("could not be asked for: its host did not say what may be read")
    if not robots.can_fetch(http.USER_AGENT, url):
        return FetchFailed("may not be read: robots.txt of its host forbids it")
    try:
        with anyio.fail_after(MAX_SECONDS):
            return await http.get_if_changed(client, url, etag, limit=MAX_BYTES)
    except httpx.HTTPStatusError as error:
        return FetchFailed(f"answered with status {error.response.status_code}")
    except TimeoutError:
        return FetchFailed(f"was not read whole within {MAX_SECONDS:.0f} seconds")
    except http.Refused:
        return FetchFailed(f"is larger than {MAX_BYTES >> 20} MiB")
    except httpx.HTTPError as error:
        return FetchFailed(f"could not be read ({type(error).__name__})")
