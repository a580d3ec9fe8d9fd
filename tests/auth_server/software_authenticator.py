"""A software authenticator: makes and uses passkeys as a browser does, with every byte replaceable."""

import base64
import hashlib
import json
import secrets
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

UP, UV, BE, BS, AT = 0x01, 0x04, 0x08, 0x10, 0x40
ORIGIN = "http://localhost:8000"


def encode(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def decode(value: str) -> bytes:
    return base64.urlsafe_b64decode(value + "=" * (-len(value) % 4))


@dataclass
class Credential:
    """One discoverable key pair with its counter."""

    user_handle: bytes
    id: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    count: int = 0

    def public_key(self) -> bytes:
        """In COSE: EC2, ES256, P-256."""
        numbers = self.key.public_key().public_numbers()
        x, y = numbers.x.to_bytes(32, "big"), numbers.y.to_bytes(32, "big")
        return cbor2.dumps({1: 2, 3: -7, -1: 1, -2: x, -3: y})


@dataclass
class Authenticator:
    """Holds passkeys of one person; `flags` are what it says about each use, `origin` where it believes to be."""

    origin: str = ORIGIN
    rp_id: str = "localhost"
    flags: int = UP | UV
    counts: bool = True
    credentials: list[Credential] = field(default_factory=list)

    def _client_data(self, kind: str, challenge: str) -> bytes:
        facts = {"type": kind, "challenge": challenge, "origin": self.origin, "crossOrigin": False}
        return json.dumps(facts).encode()

    def _facts(self, credential: Credential, flags: int) -> bytes:
        if self.counts:
            credential.count += 1
        return hashlib.sha256(self.rp_id.encode()).digest() + bytes([flags]) + credential.count.to_bytes(4, "big")

    def create(self, options: dict[str, Any], **changed: Any) -> str:
        """What the browser's form sends after `navigator.credentials.create`."""
        credential = Credential(decode(options["user"]["id"]))
        self.credentials.append(credential)
        attested = bytes(16) + len(credential.id).to_bytes(2, "big") + credential.id + credential.public_key()
        facts = self._facts(credential, self.flags | AT) + attested
        statement = {"fmt": "none", "attStmt": {}, "authData": facts}
        response = {
            "clientDataJSON": encode(self._client_data("webauthn.create", options["challenge"])),
            "attestationObject": encode(cbor2.dumps(statement)),
            "transports": ["internal", "hybrid", "telepathy"],
        }
        return self._envelop(credential, response | changed)

    def get(self, options: dict[str, Any], credential: Credential | None = None, **changed: Any) -> str:
        """What the form sends after `navigator.credentials.get`."""
        credential = credential or self.credentials[-1]
        client_data = self._client_data("webauthn.get", options["challenge"])
        facts = self._facts(credential, self.flags)
        signature = credential.key.sign(facts + hashlib.sha256(client_data).digest(), ec.ECDSA(hashes.SHA256()))
        response = {
            "clientDataJSON": encode(client_data),
            "authenticatorData": encode(facts),
            "signature": encode(signature),
            "userHandle": encode(credential.user_handle),
        }
        return self._envelop(credential, response | changed)

    def _envelop(self, credential: Credential, response: dict[str, Any]) -> str:
        name = encode(credential.id)
        return json.dumps({"id": name, "rawId": name, "type": "public-key", "response": response})
