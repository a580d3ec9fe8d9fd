"""Backups encrypted to public keys in the format of age; the private keys are never where backups are made."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Protocol

import pyrage

from deploy.errors import CommandError

_HEADER = b"age-encryption.org/"
_MAX_IDENTITY_BYTES = 65_536


class Source(Protocol):
    """Something to read until it is empty."""

    def read(self, size: int = -1, /) -> bytes: ...


def parse_recipients(text: str) -> list[pyrage.x25519.Recipient]:
    """The public keys of a comma list. Raises CommandError."""
    keys = [key.strip() for key in text.split(",") if key.strip()]
    try:
        return [pyrage.x25519.Recipient.from_str(key) for key in keys]
    except pyrage.RecipientError:
        raise CommandError("BACKUP_RECIPIENTS holds what is no public key of age: each begins with age1.") from None


def encrypt(source: Source, sink: IO[bytes], recipients: list[pyrage.x25519.Recipient]) -> None:
    """Raises OSError where the sink cannot be written or the source not read."""
    try:
        pyrage.encrypt_io(source, sink, recipients)
    except pyrage.EncryptError as fault:
        raise OSError(0, str(fault)) from None


def is_encrypted(file: Path) -> bool:
    with file.open("rb") as content:
        return content.read(len(_HEADER)) == _HEADER


@contextlib.contextmanager
def open_archive(file: Path, identity: Path | None) -> Iterator[Path]:
    """The archive: the file, or its decrypted copy next to it while this is open. Raises CommandError."""
    if not is_encrypted(file):
        yield file
        return
    if identity is None:
        raise CommandError(f"{file} is encrypted: name the file with its age identity with --identity.")
    identities = _read_identities(identity)
    with tempfile.NamedTemporaryFile(prefix=f".{file.name}.", dir=file.parent) as plain:
        try:
            with file.open("rb") as content:
                pyrage.decrypt_io(content, plain, identities)
        except pyrage.DecryptError:
            raise CommandError(f"The identity in {identity} does not open {file}.") from None
        except OSError as fault:
            raise CommandError(
                f"{file} cannot be opened ({fault}): it was changed or cut off, or its folder is full."
            ) from None
        plain.flush()
        yield Path(plain.name)


def _read_identities(identity: Path) -> list[pyrage.x25519.Identity]:
    """Reads identities as age-keygen writes them: a line each, comments between."""
    try:
        with identity.open(encoding="utf-8") as content:
            lines = content.read(_MAX_IDENTITY_BYTES).splitlines()
        return [pyrage.x25519.Identity.from_str(line.strip()) for line in lines if line.strip() and line[0] != "#"]
    except (OSError, ValueError, pyrage.IdentityError):
        raise CommandError(f"{identity} cannot be read, or holds no age identity.") from None
