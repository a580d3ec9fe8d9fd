"""Mail as .eml files in a folder, for installations without a mail server."""

import os
from pathlib import Path

from shared.outbox.channels import Begin, Letter, NotSent
from shared.outbox.channels.email import compose
from shared.settings import settings


def send(letter: Letter, begin: Begin) -> None:  # noqa: ARG001 - writing the same file again changes nothing
    """Never half a file, and an interrupted attempt can be repeated: the name is the letter's."""
    folder = settings().outbox_dir
    if folder is None:
        raise NotSent("no outbox folder is configured")
    try:
        # Not quoted-printable, which breaks links: people copy them out of these files.
        content = compose(letter, "8bit").as_bytes()
    except ValueError:
        raise NotSent("the message has no valid form", permanent=True) from None
    try:
        _write(folder, letter.id, content)
    except OSError as error:
        raise NotSent(f"the outbox folder cannot be written ({type(error).__name__})") from None


def _write(folder: Path, name: str, content: bytes) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    half = folder / f".{name}.{os.getpid()}"
    with open(os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())
    half.replace(folder / f"{name}.eml")
