"""Mails signed with keys of the tests, and a table in place of the DNS."""

import base64
import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from unittest.mock import patch

import dkim
import sqlalchemy as sa
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from dkim.canonicalization import Relaxed

from shared import clock
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.services.bookings import mail_senders

Header = tuple[bytes, bytes]
SELECTOR = "tests"
HEADERS = (b"from", b"subject", b"date", b"message-id")


@lru_cache(maxsize=4)
def make_key(bits: int = 1024) -> tuple[bytes, bytes]:
    """The private key as PEM and the DNS record of its public half."""
    key = rsa.generate_private_key(65537, bits)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private, b"v=DKIM1; k=rsa; p=" + b"".join(public.splitlines()[1:-1])


class KeyTable:
    """The key of the tests at SELECTOR under each domain, and what was asked."""

    def __init__(self, records: dict[str, bytes | None] | None = None) -> None:
        self.records = records or {}
        self.questions: list[str] = []

    def read(self, name: str) -> bytes | None:
        self.questions.append(name)
        if name in self.records:
            return self.records[name]
        return make_key()[1] if name.startswith(f"{SELECTOR}._domainkey.") else None


@contextmanager
def answer_keys(records: dict[str, bytes | None] | None = None) -> Iterator[KeyTable]:
    """`records` by name take the place of the key of the tests; None says that there is none."""
    table = KeyTable(records)
    with patch.object(mail_senders, "read_txt_record", table.read):
        yield table


def sign(
    raw: bytes,
    domain: str,
    *,
    headers: tuple[bytes, ...] = HEADERS,
    length: bool = False,
    key: bytes | None = None,
    algorithm: bytes = b"rsa-sha256",
) -> bytes:
    line: bytes = dkim.sign(
        raw,
        SELECTOR.encode(),
        domain.encode(),
        key or make_key()[0],
        canonicalize=(b"relaxed", b"relaxed"),
        include_headers=list(headers),
        length=length,
        signature_algorithm=algorithm,
    )
    return line + raw


def sign_freely(raw: bytes, domain: str, *, headers: tuple[bytes, ...] = HEADERS, more: str = "") -> bytes:
    """A signature the library would not make: of any headers, and with tags of one's own."""
    tags = f"v=1; a=rsa-sha256; c=relaxed/relaxed; d={domain}; s={SELECTOR}; {more}{_describe_text(raw, headers)}"
    name, value = _sign_headers(_pick_headers(raw, headers), b"DKIM-Signature", tags, None)
    return name + b":" + value + raw


def _pick_headers(raw: bytes, names: tuple[bytes, ...]) -> list[Header]:
    headers, _ = dkim.rfc822_parse(raw)
    return [next((bytes(n), bytes(v)) for n, v in headers if n.lower() == name) for name in names]


def _describe_text(raw: bytes, headers: tuple[bytes, ...]) -> str:
    _, body = dkim.rfc822_parse(raw)
    digest = base64.b64encode(hashlib.sha256(Relaxed.canonicalize_body(body)).digest()).decode()
    return f"h={':'.join(n.decode() for n in headers)}; bh={digest}; b="


def seal(raw: bytes, domain: str, results: str, *, step: int = 1, status: str = "", key: bytes | None = None) -> bytes:
    """One more step of an ARC chain (RFC 8617, 5.1), with what its forwarder says of the mail."""
    headers, _ = dkim.rfc822_parse(raw)
    chain = [(bytes(n), bytes(v)) for n, v in headers if n.lower().startswith(b"arc-")]
    common = f"i={step}; a=rsa-sha256; d={domain}; s={SELECTOR}"
    results_header = (b"ARC-Authentication-Results", f" i={step}; mx.{domain}; {results}\r\n".encode())
    tags = f"{common}; c=relaxed/relaxed; {_describe_text(raw, HEADERS)}"
    message = _sign_headers(_pick_headers(raw, HEADERS), b"ARC-Message-Signature", tags, key)
    cv = status or ("none" if step == 1 else "pass")
    sealed = _sign_headers([*reversed(chain), results_header, message], b"ARC-Seal", f"{common}; cv={cv}; b=", key)
    return b"".join(name + b":" + value for name, value in (sealed, message, results_header)) + raw


def _sign_headers(headers: list[Header], name: bytes, tags: str, key: bytes | None) -> Header:
    unsigned = (name, f" {tags}\r\n".encode())
    lines = [n + b":" + v for n, v in Relaxed.canonicalize_headers([*headers, unsigned])]
    private = serialization.load_pem_private_key(key or make_key()[0], None)
    assert isinstance(private, rsa.RSAPrivateKey)
    signature = private.sign(b"".join(lines).removesuffix(b"\r\n"), padding.PKCS1v15(), hashes.SHA256())
    return name, f" {tags}".encode() + base64.b64encode(signature) + b"\r\n"


def replace_sender(raw: bytes, sender: str) -> bytes:
    return re.sub(rb"^From: .*$", b"From: " + sender.encode(), raw, count=1, flags=re.M)


def confirm_account(account_id: int) -> str:
    """The account's address, which it has confirmed."""
    with transaction() as session:
        account = session.scalars(sa.select(Account).where(Account.id == account_id)).one()
        account.email_confirmed_at = clock.now()
        return account.email or ""


def forward(raw: bytes, account_id: int) -> bytes:
    """A mail as the account's own provider sends and signs it."""
    address = confirm_account(account_id)
    return sign(replace_sender(raw, f"Someone <{address}>"), address.rpartition("@")[2])
