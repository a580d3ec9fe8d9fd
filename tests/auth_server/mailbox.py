"""What a person finds in their mailbox: open deliveries go through the real worker's code into files, and are read."""

import email
import email.policy
import re
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from jobs import deliver
from shared.db.base import transaction
from shared.db.messages import Delivery
from tests.support.service import wait_for

Mails = Callable[..., list[EmailMessage]]


@pytest.fixture
def mails(configure: Any, tmp_path: Path) -> Mails:
    """mails() -> every mail delivered so far, oldest first, after delivering what waits; mails(n) waits for n."""
    folder = tmp_path / "outbox"
    configure(MAIL_BACKEND="outbox", OUTBOX_DIR=str(folder))

    def list_ids(status: str, order: Any) -> list[str]:
        with transaction() as session:
            ids = select(Delivery.id).where(Delivery.status == status, Delivery.channel == "email").order_by(order)
            return [str(id) for id in session.scalars(ids)]

    def read(least: int = 0) -> list[EmailMessage]:
        if least:
            wait_for("mail", lambda: len(list_ids("pending", Delivery.wake_at)) >= least)
        for id in list_ids("pending", Delivery.wake_at):
            deliver.wake(id)
        files = [folder / f"{id}.eml" for id in list_ids("sent", Delivery.sent_at)]
        return [email.message_from_bytes(f.read_bytes(), policy=email.policy.default) for f in files if f.exists()]  # type: ignore[misc]

    return read


def text(mail: EmailMessage) -> str:
    body = mail.get_body(("plain",))
    assert body is not None
    return str(body.get_content())


def link(mail: EmailMessage) -> str:
    """The path and query of the one-time link."""
    match = re.search(r"https?://[^/\s]+(/[\w-]+\?token=\w+)", text(mail))
    assert match is not None, text(mail)
    return match[1]
