"""Passkeys: discoverable credentials of WebAuthn that verify the person, registered and used (WebAuthn level 3)."""

import ipaddress
import json
from datetime import timedelta
from urllib.parse import urlsplit

import webauthn
from sqlalchemy import delete, select
from sqlalchemy.orm import Session
from webauthn.helpers import bytes_to_base64url, generate_challenge
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AttestationFormat,
    AuthenticatorSelectionCriteria,
    AuthenticatorTransport,
    CredentialDeviceType,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from auth_server.accounts.api_keys import validate_name
from shared import clock
from shared.db.accounts import Account, lock
from shared.db.oauth import WebSession
from shared.db.sign_in_methods import Passkey, PasskeyChallenge, store_challenge
from shared.errors import Fault, Invalid, LimitReached
from shared.settings import settings

CHALLENGE_LIFETIME = timedelta(minutes=5)
MAX_PASSKEYS = 20  # of one account
MAX_CREDENTIAL_CHARACTERS = 8 * 1024
# Browsers answer "none" with these: a fresh key says nothing about its maker, and nothing else needs parsing.
_FORMATS = frozenset({AttestationFormat.NONE, AttestationFormat.PACKED})
_MALFORMED = (WebAuthnException, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError)
_REQUIRED = UserVerificationRequirement.REQUIRED
_TRANSPORTS = frozenset(transport.value for transport in AuthenticatorTransport)


def find_relying_party() -> tuple[str, str] | None:
    """The RP ID and the origin; None where the service has no host name: an RP ID is never an IP address.

    This machine's own address stands for "localhost", which is one.
    """
    parts = urlsplit(settings().web_url)
    host = parts.hostname or ""
    if not _is_address(host):
        return host, f"{parts.scheme}://{_describe_host(host, parts.port, parts.scheme)}"
    if not ipaddress.ip_address(host).is_loopback:
        return None
    return "localhost", f"{parts.scheme}://{_describe_host('localhost', parts.port, parts.scheme)}"


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _describe_host(host: str, port: int | None, scheme: str) -> str:
    """The host as in a browser's origin: without the default port."""
    return host if port in (None, {"https": 443, "http": 80}.get(scheme)) else f"{host}:{port}"


def _require_relying_party() -> tuple[str, str]:
    party = find_relying_party()
    if party is None:
        raise Invalid(Fault("passkey", "cannot be used at an address without a name", "a host name in WEB_URL"))
    return party


def _make_challenge(db: Session, session: WebSession, purpose: str) -> bytes:
    challenge = generate_challenge()
    store_challenge(db, session.id_hash, purpose, challenge, clock.now() + CHALLENGE_LIFETIME)
    return challenge


def _take_challenge(db: Session, session: WebSession, purpose: str) -> bytes | None:
    """Takes the challenge once: a second request gets none."""
    same = (PasskeyChallenge.session_hash == session.id_hash, PasskeyChallenge.purpose == purpose)
    taken = delete(PasskeyChallenge).where(*same).returning(PasskeyChallenge.challenge, PasskeyChallenge.expires_at)
    row = db.execute(taken).one_or_none()
    return row.challenge if row is not None and row.expires_at > clock.now() else None


def list_passkeys(db: Session, account_id: int) -> list[Passkey]:
    own = select(Passkey).where(Passkey.account_id == account_id)
    return list(db.scalars(own.order_by(Passkey.created_at, Passkey.id)))


def _describe(passkey: Passkey) -> PublicKeyCredentialDescriptor:
    transports = [AuthenticatorTransport(name) for name in passkey.transports]
    return PublicKeyCredentialDescriptor(
        id=webauthn.base64url_to_bytes(passkey.credential_id), transports=transports or None
    )


def make_registration_options(db: Session, session: WebSession, account: Account) -> str:
    """What `navigator.credentials.create` is asked for, as JSON. Raises Invalid."""
    rp_id, _ = _require_relying_party()
    options = webauthn.generate_registration_options(
        rp_id=rp_id,
        rp_name=settings().service_name,
        user_id=account.public_id.encode(),  # random, and no personal data (WebAuthn 14.6.1)
        user_name=account.email or account.public_id,
        challenge=_make_challenge(db, session, "register"),
        timeout=int(CHALLENGE_LIFETIME.total_seconds() * 1000),
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED, user_verification=_REQUIRED
        ),
        exclude_credentials=[_describe(passkey) for passkey in list_passkeys(db, account.id)],
    )
    return webauthn.options_to_json(options)


def register(db: Session, session: WebSession, account: Account, name: str, credential: str) -> Passkey:
    """Stores what the browser made. Raises Invalid, or LimitReached."""
    valid_name, (rp_id, origin) = validate_name(name), _require_relying_party()
    lock(db, account.id)
    count = len(list_passkeys(db, account.id))
    if count >= MAX_PASSKEYS:
        text = f"You have {MAX_PASSKEYS} passkeys, which is the most. Remove one first."
        raise LimitReached(text, limit="passkeys", current=count, cap=MAX_PASSKEYS)
    challenge = _take_challenge(db, session, "register")
    invalid = Invalid(Fault("passkey", "was not accepted", "a new passkey, made within five minutes"))
    if challenge is None:
        raise invalid
    try:
        answer = _parse(credential)
        verified = webauthn.verify_registration_response(
            credential=answer,
            expected_challenge=challenge,
            expected_rp_id=rp_id,
            expected_origin=origin,
            require_user_verification=True,
        )
    except _MALFORMED:
        raise invalid from None
    credential_id = bytes_to_base64url(verified.credential_id)
    if verified.fmt not in _FORMATS or _find(db, credential_id) is not None:
        raise invalid
    response = answer["response"]
    names = response.get("transports") if isinstance(response, dict) else None
    passkey = Passkey(
        account_id=account.id,
        credential_id=credential_id,
        public_key=verified.credential_public_key,
        name=valid_name,
        sign_count=verified.sign_count,
        backup_eligible=verified.credential_device_type is CredentialDeviceType.MULTI_DEVICE,
        backed_up=verified.credential_backed_up,
        transports=sorted(_TRANSPORTS.intersection(filter(lambda n: isinstance(n, str), names or ()))),
        created_at=clock.now(),
    )
    db.add(passkey)
    db.flush()
    return passkey


def _parse(credential: str) -> dict[str, object]:
    """Raises ValueError or RecursionError."""
    answer = json.loads(credential[: MAX_CREDENTIAL_CHARACTERS + 1])
    if not isinstance(answer, dict):
        raise ValueError("not an object")
    return answer


def _find(db: Session, credential_id: object) -> Passkey | None:
    if not isinstance(credential_id, str):
        return None
    same = Passkey.credential_id == credential_id
    return db.scalar(select(Passkey).where(same).with_for_update())


def make_sign_in_options(db: Session, session: WebSession, account: Account | None) -> str:
    """What `navigator.credentials.get` is asked for, as JSON. Without an account any passkey of ours will do."""
    rp_id, _ = _require_relying_party()
    options = webauthn.generate_authentication_options(
        rp_id=rp_id,
        challenge=_make_challenge(db, session, "sign_in"),
        timeout=int(CHALLENGE_LIFETIME.total_seconds() * 1000),
        allow_credentials=[_describe(p) for p in list_passkeys(db, account.id)] if account is not None else None,
        user_verification=_REQUIRED,
    )
    return webauthn.options_to_json(options)


def authenticate(db: Session, session: WebSession, credential: str) -> Account | None:
    """The account whose passkey signed this session's challenge, with the person verified; None otherwise.

    It may be suspended.
    """
    party, challenge = find_relying_party(), _take_challenge(db, session, "sign_in")
    if party is None or challenge is None:
        return None
    try:
        answer = _parse(credential)
        passkey = _find(db, answer.get("id"))
        return _verify(db, passkey, answer, challenge, party) if passkey is not None else None
    except _MALFORMED:
        return None


def _verify(
    db: Session, passkey: Passkey, answer: dict[str, object], challenge: bytes, party: tuple[str, str]
) -> Account | None:
    verified = webauthn.verify_authentication_response(
        credential=answer,
        expected_challenge=challenge,
        expected_rp_id=party[0],
        expected_origin=party[1],
        credential_public_key=passkey.public_key,
        credential_current_sign_count=passkey.sign_count,
        require_user_verification=True,
    )
    account = db.get(Account, passkey.account_id)
    eligible = verified.credential_device_type is CredentialDeviceType.MULTI_DEVICE
    # WebAuthn 7.2: the user must be its owner, and its backup eligibility never changes.
    if account is None or not _is_for(answer, account) or eligible != passkey.backup_eligible:
        return None
    passkey.sign_count, passkey.backed_up = verified.new_sign_count, verified.credential_backed_up
    passkey.last_used_at = clock.now()
    return account


def _is_for(answer: dict[str, object], account: Account) -> bool:
    response = answer["response"]
    handle = response.get("userHandle") if isinstance(response, dict) else None
    return not handle or handle == bytes_to_base64url(account.public_id.encode())
