"""POST /hooks/mail, the whole way through the web host: a mail service's delivery, and everybody else's attempts."""

from collections.abc import Callable

import httpx
import pytest
import sqlalchemy as sa

from mcp_server.pages import inbound_mail_hook
from shared.db.base import transaction
from shared.db.inbound_mail import InboundMail
from shared.services.bookings import inbound_mail, secret_links
from tests.mcp_server.rest import conftest as both_hosts
from tests.mcp_server.rest.conftest import World
from tests.shared.domain.confirmations.mails import mail
from tests.support.people import People

# The web host passes these paths on, so the fixtures of both hosts are used here.
running, world, people = both_hosts.running, both_hosts.world, both_hosts.people

SECRET = "hook-secret-0123456789"


@pytest.fixture
def address(people: People, configure: Callable[..., None]) -> str:
    configure(INBOUND_HOOK_SECRET=SECRET)
    with transaction(people.alice.account_id) as session:
        return str(inbound_mail.address_of(secret_links.get_link(session, people.alice.account_id, "inbox").secret))


def send(world: World, to: str | None, raw: bytes, secret: str | None = SECRET) -> httpx.Response:
    headers = {"Content-Type": "message/rfc822"} | ({"X-Hook-Secret": secret} if secret else {})
    return world.http.post(f"{world.url}/hooks/mail", params={"to": to} if to else {}, content=raw, headers=headers)


def count() -> int:
    with transaction() as session:
        return session.scalar(sa.select(sa.func.count()).select_from(InboundMail)) or 0


def test_a_delivery_is_stored_once(world: World, address: str) -> None:
    raw = mail("hello")
    answers = [send(world, address, raw) for _ in range(2)]
    assert [(a.status_code, a.json()) for a in answers] == [(200, {"stored": 1}), (200, {"stored": 0})]
    assert count() == 1


def test_without_the_secret_nothing_is_taken_and_guessing_ends_soon(world: World, address: str) -> None:
    for secret in (None, "wrong", SECRET + "x"):
        assert send(world, address, mail("x"), secret).status_code == 401
    codes = {send(world, address, mail("x"), "guess").status_code for _ in range(inbound_mail_hook.GUESSES_PER_MINUTE)}
    assert codes == {401, 429}
    assert count() == 0


def test_what_never_will_be_taken_is_told_apart_from_what_may_be_later(
    world: World, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert send(world, "nobody@inbox.localhost", mail("x")).status_code == 404
    assert send(world, None, mail("x")).status_code == 400
    assert send(world, address, b"").status_code == 400
    monkeypatch.setattr(inbound_mail_hook, "MAX_MAIL_BYTES", 100)
    assert send(world, address, b"x" * 101).status_code == 413
    monkeypatch.setattr(inbound_mail, "MAX_WAITING_MAILS", 0)
    full = send(world, address, b"Subject: x\n\nx")
    assert (full.status_code, full.headers["retry-after"]) == (503, "60")
    assert count() == 0


def test_where_no_secret_is_set_there_is_no_such_page(world: World, people: People) -> None:
    assert send(world, "a@b.test", mail("x")).status_code == 404
    assert world.http.get(f"{world.url}/hooks/mail").status_code == 405
