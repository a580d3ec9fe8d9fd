"""A fake of a browser with a push subscription: it decrypts what its push service took (RFC 8188, RFC 8291)."""

import secrets

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from shared.db.push_keys import encode_point
from shared.outbox.channels.web_push import encode


class PushBrowser:
    """Its keys are new unless they are given."""

    def __init__(self, key: ec.EllipticCurvePrivateKey | None = None, secret: bytes | None = None) -> None:
        self._key = key or ec.generate_private_key(ec.SECP256R1())
        self._secret = secret or secrets.token_bytes(16)

    @property
    def point(self) -> bytes:
        return encode_point(self._key.public_key())

    def describe(self, url: str) -> dict[str, str]:
        """The address of a channel, as it is stored."""
        keys = {"p256dh": encode(self.point), "auth": encode(self._secret)}
        return {"url": url, **keys, "browser": "Firefox on Linux"}

    def subscribe(self, url: str) -> dict[str, object]:
        """What the page sends."""
        address = self.describe(url)
        return {"endpoint": url, "keys": {"p256dh": address["p256dh"], "auth": address["auth"]}}

    def decrypt(self, body: bytes) -> bytes:
        salt, size, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
        point, sealed = body[21 : 21 + length], body[21 + length :]
        assert len(sealed) <= size
        theirs = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
        info = b"WebPush: info\0" + self.point + point
        material = HKDF(SHA256(), 32, self._secret, info).derive(self._key.exchange(ec.ECDH(), theirs))
        key = HKDF(SHA256(), 16, salt, b"Content-Encoding: aes128gcm\0").derive(material)
        nonce = HKDF(SHA256(), 12, salt, b"Content-Encoding: nonce\0").derive(material)
        content = AESGCM(key).decrypt(nonce, sealed, None).rstrip(b"\0")
        assert content.endswith(b"\2")
        return content[:-1]
