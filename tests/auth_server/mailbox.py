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

    def waiting() -> list[str]:
        with transaction() as session:
            return [str(id) for id in session.scalars(select(Delivery.id).where(Delivery.status == "pending"))]

    def read(least: int = 0) -> list[EmailMessage]:
        if least:
            wait_for("mail", lambda: len(waiting()) >= least)
        for id in waiting():
            deliver.wake(id)
        files = sorted(folder.glob("*.eml"), key=lambda file: file.stat().st_mtime_ns) if folder.exists() else []
        return [email.message_from_bytes(file.read_bytes(), policy=email.policy.default) for file in files]  # type: ignore[misc]

    return read


def text(mail: EmailMessage) -> str:
    body = mail.get_body(("plain",))
    assert body is not None
    return str(body.get_content())


def link(mail: EmailMessage) -> str:
    """The path and query of the one-time link."""
    match = re.search(r"https?://[^/\s]+(/\w+\?token=\w+)", text(mail))
    assert match is not None, text(mail)
    return match[1]
