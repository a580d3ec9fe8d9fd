"""Notifications of browsers by their push services: encrypted for only the browser (RFC 8291), signed by VAPID."""

import base64
import json
import secrets
from collections.abc import Mapping
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from joserfc import jwt
from joserfc.jwk import ECKey

from shared import clock
from shared.db.base import autocommit
from shared.db.push_keys import encode_point, get_push_key
from shared.domain.watch_kinds import WATCH_KINDS
from shared.outbox.channels import Letter
from shared.outbox.channels.receivers import Post
from shared.settings import settings

BROWSER_PAGE = "/dashboard/settings/channels/browser"
RECORD_BYTES = 4096  # the most that every push service takes (RFC 8030 7.2)
_SALT_BYTES, _POINT_BYTES, _TAG_BYTES = 16, 65, 16
MAX_CONTENT = RECORD_BYTES - (_SALT_BYTES + 4 + 1 + _POINT_BYTES) - _TAG_BYTES - 1
# Quotes and line ends take two bytes each in JSON, so that title, text and link together fit MAX_CONTENT.
TITLE_BYTES, TEXT_BYTES, MAX_LINK = 300, 1200, 512
_TOKEN_SECONDS = 12 * 3600  # of at most 24 hours (RFC 8292 2)
_DAY = 24 * 3600
# How long the push service keeps a message for a browser that is off; what is older is of no use to anybody.
_KEPT_SECONDS = {"channel_code": 600} | {
    kind.mails: int(kind.max_age.total_seconds()) for kind in WATCH_KINDS if kind.max_age
}


def encode(raw: bytes) -> str:
    """Base64url without padding, as every standard here wants it."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def build_post(letter: Letter, address: Mapping[str, str]) -> Post:
    """The topic is the id of the letter: of two attempts a browser that was off gets one (RFC 8030 5.4)."""
    with autocommit() as session:
        key = get_push_key(session)
    salt, own = secrets.token_bytes(_SALT_BYTES), ec.generate_private_key(ec.SECP256R1())
    body = encrypt(_describe(letter), decode(address["p256dh"]), decode(address["auth"]), own, salt)
    kind = letter.message.kind
    headers = {
        "Authorization": f"vapid t={_sign_token(key, address['url'])}, k={encode(encode_point(key.public_key()))}",
        "Content-Encoding": "aes128gcm",
        "Content-Type": "application/octet-stream",
        "TTL": str(_KEPT_SECONDS.get(kind, _DAY)),
        "Urgency": "high" if kind in _KEPT_SECONDS else "normal",
        "Topic": letter.id.replace("-", "")[:32],
    }
    return Post(address["url"], body, headers)


def encrypt(
    content: bytes, browser_point: bytes, browser_secret: bytes, own: ec.EllipticCurvePrivateKey, salt: bytes
) -> bytes:
    """One record of aes128gcm (RFC 8188) under keys of RFC 8291 3.4; `own` and `salt` are only for this message.

    Raises ValueError for content of more than MAX_CONTENT bytes.
    """
    if len(content) > MAX_CONTENT:
        raise ValueError("too long for a push message")
    theirs = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), browser_point)
    point = encode_point(own.public_key())
    shared_secret = own.exchange(ec.ECDH(), theirs)
    material = _derive(browser_secret, shared_secret, b"WebPush: info\0" + browser_point + point, 32)
    key = _derive(salt, material, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derive(salt, material, b"Content-Encoding: nonce\0", 12)
    head = salt + RECORD_BYTES.to_bytes(4, "big") + bytes([len(point)]) + point
    return head + AESGCM(key).encrypt(nonce, content + b"\2", None)  # 2 marks the last record


def _derive(salt: bytes, material: bytes, purpose: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt, purpose).derive(material)


def _sign_token(key: ec.EllipticCurvePrivateKey, url: str) -> str:
    """Tells the push service who sends, and whom its operator can contact (RFC 8292 2)."""
    parts, config = urlsplit(url), settings()
    claims = {"aud": f"{parts.scheme}://{parts.netloc}", "exp": int(clock.now().timestamp()) + _TOKEN_SECONDS}
    if config.operator_email:
        claims["sub"] = f"mailto:{config.operator_email}"
    elif config.secure:
        claims["sub"] = config.web_url
    return jwt.encode({"typ": "JWT", "alg": "ES256"}, claims, ECKey.import_key(key), ["ES256"])


def _describe(letter: Letter) -> bytes:
    """The link is a path: the worker opens only pages of its host."""
    message = letter.message
    parts = urlsplit(message.link)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    if message.is_code:  # after the # it reaches no server and no log
        path = f"{BROWSER_PAGE}#{message.blanks[0]}"
    content = {
        "id": letter.id,
        "title": _cut_bytes(message.subject, TITLE_BYTES),
        "text": _cut_bytes(message.text, TEXT_BYTES),
        "link": path if len(path) <= MAX_LINK else "/dashboard",
    }
    return json.dumps(content, ensure_ascii=False).encode()


def _cut_bytes(text: str, most: int) -> str:
    raw = text.encode()
    return text if len(raw) <= most else raw[: most - 4].decode(errors="ignore").rstrip() + " …"
