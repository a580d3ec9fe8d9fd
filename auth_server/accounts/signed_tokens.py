"""Signed tokens of others (RFC 7519): signature by a known key, allowed algorithms, and the kind of token."""

import json
from collections.abc import Collection
from typing import Any

from joserfc import jws, jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet

# Only public keys: with a shared secret, or none, a key that everyone can read would sign (RFC 8725 3.1).
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
MAX_CHARACTERS = 16 * 1024
LEEWAY_SECONDS = 60


class InvalidToken(Exception):
    """The token is invalid; the text says why, for the log."""


class UnknownKey(InvalidToken):
    """The signing key is not among the known public keys, which may have changed."""


def read_unverified(token: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Unverified header and claims, only for finding the key that should have signed."""
    if len(token) > MAX_CHARACTERS:
        return {}, {}
    try:
        parts = jws.extract_compact(token.encode())
        claims = json.loads(parts.payload)
    except (JoseError, ValueError, TypeError, RecursionError):
        return {}, {}
    return parts.headers(), claims if isinstance(claims, dict) else {}


def verify_token(token: str, jwks: dict[str, Any], types: Collection[str]) -> jwt.Token:
    """The verified token. `types` are the media types its header may name (RFC 8725 3.11), in lower case.

    Raises InvalidToken. Its claims are not checked.
    """
    if len(token) > MAX_CHARACTERS:
        raise InvalidToken("too long")
    try:
        registry = jws.JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
        verified = jwt.decode(token, KeySet.import_key_set(jwks), registry=registry)  # type: ignore[arg-type]
    except InvalidKeyIdError as error:
        raise UnknownKey("unknown key") from error
    except (JoseError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InvalidToken(type(error).__name__) from error
    if str(verified.header.get("typ", "JWT")).lower().removeprefix("application/") not in types:
        raise InvalidToken("another kind of token")
    return verified
