"""The key pair that identifies this service to browsers' push services (RFC 8292), made once and sealed."""

import sqlalchemy as sa
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from shared.db.accounts import ServiceFact
from shared.secrets import seal, unseal
from shared.settings import settings

NAME = "push_key"


def get_push_key(session: Session) -> ec.EllipticCurvePrivateKey:
    """Returns it; programs that need the first one together all get the same.

    It is never renewed, because a browser only takes messages of the key that it subscribed with. Only when no key of
    the environment opens it is it replaced: push services then refuse messages to subscriptions to the
    old one, which ends those.
    """
    sealed = _read_sealed(session)
    if _open(sealed) is None:
        _replace(session, sealed)
        sealed = _read_sealed(session)
    key = _open(sealed)
    assert key is not None
    return key


def _read_sealed(session: Session) -> str | None:
    return session.scalar(sa.select(ServiceFact.value).where(ServiceFact.name == NAME))


def _open(sealed: str | None) -> ec.EllipticCurvePrivateKey | None:
    text = None if sealed is None else unseal(settings().encryption_keys, sealed)
    return None if text is None else ec.derive_private_key(int(text, 16), ec.SECP256R1())


def _replace(session: Session, earlier: str | None) -> None:
    """Replaces the earlier key, if any; if another program was faster its key stays."""
    number = ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value
    sealed = seal(settings().encryption_keys[0], f"{number:064x}")
    row = insert(ServiceFact).values(name=NAME, value=sealed)
    if earlier is None:
        session.execute(row.on_conflict_do_nothing())
    else:
        same = (ServiceFact.name == NAME, ServiceFact.value == earlier)
        session.execute(sa.update(ServiceFact).where(*same).values(value=sealed))


def encode_point(key: ec.EllipticCurvePublicKey) -> bytes:
    """65 bytes, the form of public keys in browsers."""
    return key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
