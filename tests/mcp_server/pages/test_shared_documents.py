"""Shared documents the whole way a client of an advisor goes: through the web host, without signing in."""

import re
from datetime import timedelta
from typing import Any

import anyio
import httpx
import pytest

from mcp_server.calls.dispatch import dispatch
from mcp_server.pages import shared_documents
from mcp_server.toolkit.thread_limiter import limiter
from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.settings import settings
from tests.mcp_server.rest import conftest as both_hosts
from tests.mcp_server.rest.conftest import World
from tests.support.people import People
from tests.support.settings_and_clock import StandingClock

# The web host passes these paths on, so the fixtures of both hosts are used here.
running, world, people = both_hosts.running, both_hosts.world, both_hosts.people


@pytest.fixture
def made(world: World, people: People) -> dict[str, Any]:
    """A document of Paula's; its address is one of the web host."""
    return call(people, "generate_branded_pdf", title="Sömmer: “Rom & Paris”\n/..", summary="Dear Ana")


def call(people: People, name: str, **arguments: Any) -> dict[str, Any]:
    limiter.cache_clear()
    data = anyio.run(dispatch, name, arguments, people.paula, "rest").data
    limiter.cache_clear()
    return data


def path(made: dict[str, Any]) -> str:
    return str(made["url"]).removeprefix(settings().web_url)


def views(people: People) -> int:
    return int(call(people, "list_branded_pdfs", include_revoked=True)["pdfs"][0]["views"])


@pytest.mark.spec("s4.4.generate_branded_pdf.public_url")
def test_anyone_with_the_link_reads_the_document_in_the_browser(world: World, made: dict[str, Any]) -> None:
    assert made["url"].startswith(f"{world.url}/shared/")
    page = world.get(path(made))
    assert (page.status_code, page.headers["content-type"]) == (200, "application/pdf")
    assert page.content.startswith(b"%PDF-")
    told = page.headers["content-disposition"].split("; ")
    whole = "filename*=UTF-8''S%C3%B6mmer%20%E2%80%9CRom%20%26%20Paris%E2%80%9D.pdf"
    assert told == ["inline", 'filename="Sommer-Rom-Paris.pdf"', whole]


def test_nothing_keeps_indexes_frames_or_passes_on_the_document(world: World, made: dict[str, Any]) -> None:
    for where in (path(made), "/shared/" + "0" * 40):
        told = world.get(where).headers
        assert told["x-robots-tag"].startswith("noindex")
        assert told["referrer-policy"] == "no-referrer"
        assert told["cache-control"] == "private, no-store"
        assert told["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in told["content-security-policy"]
        assert "set-cookie" not in told


def test_views_are_gets_that_somebody_waits_for(world: World, people: People, made: dict[str, Any]) -> None:
    assert views(people) == 0
    head = world.http.head(world.url + path(made))
    assert (head.status_code, head.content) == (200, b"")
    for header in ("Sec-Purpose", "Purpose", "X-Moz"):
        assert world.get(path(made), headers={header: "prefetch;prerender"}).status_code == 200
    assert views(people) == 0
    for _ in range(3):
        world.get(path(made))
    assert views(people) == 3


def test_taken_back_ended_and_never_made_read_alike(
    world: World, people: People, made: dict[str, Any], standing_clock: StandingClock
) -> None:
    other = call(people, "generate_branded_pdf", summary="x")
    call(people, "revoke_branded_pdf", pdf_id=made["pdf"]["pdf_id"])
    standing_clock.advance(timedelta(days=settings().pdf_link_days, seconds=60))
    never = ["/shared/" + "0" * 40, "/shared/x", "/shared/" + "A" * 40, "/shared/%00", "/shared/" + "1" * 4000]
    pages = [world.get(p) for p in (path(made), path(other), *never)]
    assert {p.status_code for p in pages} == {404}
    assert len({p.content for p in pages}) == 1
    strip = [{k: v for k, v in p.headers.items() if k != "date"} for p in pages]
    assert all(s == strip[0] for s in strip)
    assert "This document is not available" in pages[0].text


def test_the_secret_works_for_reading_alone(world: World, made: dict[str, Any]) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert world.http.request(method, world.url + path(made)).status_code == 405
    assert world.get("/shared/").status_code == 404


def test_guessing_is_slowed_by_address(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_documents, "PER_MINUTE", 2)
    answers = [world.get("/shared/" + "0" * 40) for _ in range(4)]
    assert answers[-1].status_code == 429
    assert re.fullmatch(r"\d+", answers[-1].headers["retry-after"])


def test_the_tool_host_shows_it_too(world: World, made: dict[str, Any]) -> None:
    base = world.mcp_url.removesuffix("/mcp")
    assert httpx.get(base + path(made), trust_env=False).headers["content-type"] == "application/pdf"


def test_documents_of_a_suspended_account_are_closed_until_it_is_restored(
    world: World, people: People, made: dict[str, Any]
) -> None:
    for disabled_at, status in ((clock.now(), 404), (None, 200)):
        with transaction() as session:
            session.get_one(Account, people.paula.account_id).disabled_at = disabled_at
        assert world.get(path(made)).status_code == status
