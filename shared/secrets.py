"""Secrets: minting, hashing, comparing and sealing; nothing here is stored or logged in the clear."""

import hashlib
import hmac
import secrets
import zlib

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_NONCE = 12


def _base62(number: int, width: int) -> str:
    out = []
    for _ in range(width):
        number, digit = divmod(number, 62)
        out.append(_ALPHABET[digit])
    return "".join(reversed(out))


def mint(prefix: str) -> str:
    """A 256-bit secret with a prefix known to secret scanners, and a checksum that catches typos without a look-up."""
    body = prefix + _base62(int.from_bytes(secrets.token_bytes(32), "big"), 43)
    return body + _base62(zlib.crc32(body.encode()), 6)


def well_formed(value: str, prefix: str) -> bool:
    if len(value) != len(prefix) + 49 or not value.startswith(prefix) or not value.isascii():
        return False
    return _base62(zlib.crc32(value[:-6].encode()), 6) == value[-6:]


def digest(value: str) -> str:
    """The hash stored instead of a random secret; 256 random bits need neither salt nor stretching."""
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()


def is_same_secret(first: str, second: str) -> bool:
    """Constant-time comparison; compares bytes because compare_digest raises on non-ASCII text."""
    return hmac.compare_digest(first.encode("utf-8", "surrogatepass"), second.encode("utf-8", "surrogatepass"))


def split_secret(values: str) -> list[str]:
    """The values of a secret being rotated: the first is used, all are accepted."""
    return [value.strip() for value in values.split(",") if value.strip()]


def is_one_of(value: str, values: str) -> bool:
    """Whether it is one of such a secret's values, in constant time."""
    return sum(is_same_secret(value, valid) for valid in split_secret(values)) > 0


def sign(key: str, purpose: str) -> str:
    return hmac.digest(key.encode(), purpose.encode("utf-8", "surrogatepass"), "sha256").hex()


def _key(material: str) -> bytes:
    return hashlib.sha256(b"award-travel seal\0" + material.encode()).digest()


def key_id(material: str) -> str:
    return hashlib.sha256(b"award-travel key id\0" + material.encode()).hexdigest()[:8]


def seal(material: str, value: str) -> str:
    """Encrypts with a key from the environment; the key's id comes first, so that keys can be rotated."""
    nonce = secrets.token_bytes(_NONCE)
    box = nonce + AESGCM(_key(material)).encrypt(nonce, value.encode(), None)
    return f"{key_id(material)}:{box.hex()}"


def unseal(materials: list[str], sealed: str) -> str | None:
    """Decrypts with any current or earlier key; None if none fits."""
    name, _, box = sealed.partition(":")
    for material in materials:
        if key_id(material) != name:
            continue
        try:
            raw = bytes.fromhex(box)
            return AESGCM(_key(material)).decrypt(raw[:_NONCE], raw[_NONCE:], None).decode()
        except (InvalidTag, ValueError):
            return None
    return None
