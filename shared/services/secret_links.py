"""Addresses that are secrets: purpose, account and a nonce go in; the secret, derived with a key, comes out.

Rows hold the nonce and a hash, so neither the database nor a backup of it opens a feed, a mailbox or a document.
"""

import secrets
from dataclasses import dataclass

from shared.secrets import digest, key_id, sign
from shared.settings import settings

_LENGTH = 40  # hexadecimal characters: 160 bits, and short enough for the local part of a mail address


@dataclass(frozen=True)
class Minted:
    """What the row of a new link holds, and the secret it must not hold."""

    nonce: str
    key: str
    token_hash: str
    secret: str


def mint(purpose: str, account_id: int) -> Minted:
    nonce, material = secrets.token_hex(16), settings().encryption_keys[0]
    made = _derived(material, purpose, account_id, nonce)
    return Minted(nonce, key_id(material), digest(made), made)


def secret(purpose: str, account_id: int, nonce: str, key: str) -> str | None:
    """None when the key the link was made with is no longer among the settings: make a new link then."""
    for material in settings().encryption_keys:
        if key_id(material) == key:
            return _derived(material, purpose, account_id, nonce)
    return None


def _derived(material: str, purpose: str, account_id: int, nonce: str) -> str:
    return sign(material, f"secret link\0{purpose}\0{account_id}\0{nonce}")[:_LENGTH]
