"""Authorization server metadata (RFC 8414, OpenID Connect Discovery 1.0)."""

from typing import Any

from auth_server.oauth.client_metadata import reads_any_host
from auth_server.oauth.clients import AUTH_METHODS
from auth_server.oauth.identity_assertion import PROFILE, list_grant_types
from auth_server.oauth.signing_keys import ALGORITHM
from auth_server.oauth.tokens import SUPPORTED
from shared.settings import settings

CLAIMS = ["sub", "iss", "aud", "exp", "iat", "auth_time", "nonce", "at_hash", "email", "email_verified"]


def build_metadata() -> dict[str, Any]:
    """Builds it, the same for both well-known paths. The issuer is a setting, never the Host of a request."""
    issuer = settings().web_url
    optional: dict[str, Any] = {}
    if settings().enterprise_issuers:
        optional["authorization_grant_profiles_supported"] = [PROFILE]
    if settings().dcr:
        optional["registration_endpoint"] = f"{issuer}/oauth/register"
    return optional | {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}/oauth/authorize",
        "token_endpoint": f"{issuer}/oauth/token",
        "revocation_endpoint": f"{issuer}/oauth/revoke",
        "introspection_endpoint": f"{issuer}/oauth/introspect",
        "userinfo_endpoint": f"{issuer}/oauth/userinfo",
        "jwks_uri": f"{issuer}/oauth/jwks",
        "scopes_supported": SUPPORTED.split(),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": list(list_grant_types()),
        "token_endpoint_auth_methods_supported": sorted(AUTH_METHODS, reverse=True),
        "revocation_endpoint_auth_methods_supported": sorted(AUTH_METHODS, reverse=True),
        "introspection_endpoint_auth_methods_supported": ["client_secret_basic"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        # Applications only look at this flag, and most fall back on registration where it is missing.
        "client_id_metadata_document_supported": reads_any_host() or not settings().dcr,
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [ALGORITHM],
        "claims_supported": CLAIMS,
        "prompt_values_supported": ["none", "login", "consent", "select_account"],
        "claims_parameter_supported": False,
        "request_parameter_supported": False,
        "request_uri_parameter_supported": False,
    }
