"""Mail without a server: files in a folder."""

from dataclasses import replace
from email import message_from_bytes, policy
from pathlib import Path

import pytest

from shared.outbox.channels import NotSent
from shared.outbox.channels.outbox_files import send
from shared.outbox.wording.messages import Message
from tests.shared.outbox.test_email import letter
from tests.support.settings_and_clock import Configure


def test_a_letter_becomes_one_private_file_named_after_its_id(configure: Configure, tmp_path: Path) -> None:
    configure(OUTBOX_DIR=tmp_path / "outbox")
    send(letter(), lambda: None)
    send(letter(), lambda: None)
    (file,) = (tmp_path / "outbox").iterdir()
    assert file.name == "0b0e7d5e-1111.eml"
    assert file.stat().st_mode & 0o777 == 0o600
    mail = message_from_bytes(file.read_bytes())
    assert mail["Message-ID"].startswith("<0b0e7d5e-1111@")
    assert mail["Subject"] == "Seats found"


def test_a_folder_that_cannot_be_written_is_a_matter_of_trying_again(configure: Configure, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    configure(OUTBOX_DIR=tmp_path / "file")
    with pytest.raises(NotSent, match="cannot be written") as no:
        send(letter(), lambda: None)
    assert not no.value.permanent


def test_without_a_folder_the_mend_is_named(configure: Configure) -> None:
    configure(MAIL_BACKEND="outbox")
    with pytest.raises(NotSent, match="no outbox folder"):
        send(letter(), lambda: None)


def test_a_link_in_the_file_works_when_it_is_copied(configure: Configure, tmp_path: Path) -> None:
    """Quoted-printable writes `?token=3D4621` and breaks long lines."""
    link = f"https://award.example/confirm?token={'4621' * 40}"
    configure(OUTBOX_DIR=tmp_path)
    message = Message("Confirm", f"Open é:\n{link}\n", f'<p>é <a href="{link}">Confirm</a></p>')
    send(replace(letter(), message=message), lambda: None)
    content = (tmp_path / "0b0e7d5e-1111.eml").read_bytes()
    assert content.count(link.encode()) == 2
    mail = message_from_bytes(content, policy=policy.default)
    assert [part.get_content().replace("\r\n", "\n") for part in mail.walk() if not part.is_multipart()] == [
        message.text,
        message.html + "\n",
    ]
