"""Identity providers in the settings: for sign-in, and for assertions of enterprises."""

import json
import re
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, model_validator
from pydantic_settings import NoDecode

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1")
_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")
_PRESETS: dict[str, dict[str, str]] = {
    "google": {"title": "Google", "issuer": "https://accounts.google.com"},
    "github": {
        "title": "GitHub",
        "issuer": "https://github.com",
        "kind": "github",
        "client_auth": "client_secret_post",
    },
}


def check_outside(value: str) -> str:
    """Raises ValueError for an address that is neither https nor on this machine."""
    parts = urlsplit(value)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK_NAMES):
        raise ValueError("must be https, or http on this machine")
    return value


def _check_issuer(value: str) -> str:
    """Unchanged to the last slash: issuers are compared byte for byte (OpenID Connect Discovery 4.3)."""
    parts = urlsplit(check_outside(value))
    if parts.query or parts.fragment or not parts.hostname or "@" in parts.netloc:
        raise ValueError("must be an address without a query")
    return value


Issuer = Annotated[str, AfterValidator(_check_issuer)]
Address = Annotated[str, AfterValidator(check_outside)]


class OidcProvider(BaseModel):
    """A provider that people may sign in with; those named google and github only need their client."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    client_id: str = Field(min_length=1, max_length=500)
    client_secret: SecretStr
    title: str = Field(min_length=1, max_length=40)  # the words on the button after "Sign in with"
    issuer: Issuer  # of GitHub, which has no discovery document, the web address
    kind: Literal["oidc", "github"] = "oidc"
    client_auth: Literal["client_secret_basic", "client_secret_post"] = "client_secret_basic"
    api_url: Address = "https://api.github.com"  # of GitHub alone


class EnterpriseIssuer(BaseModel):
    """An enterprise's identity provider whose assertions are exchanged for access tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    jwks_url: Address | None = None
    jwks: dict[str, Any] | None = None
    accounts: Literal["linked", "email"] = "linked"  # how an assertion names an account
    email_domains: tuple[str, ...] = ()  # of "email": the only domains whose addresses it may name

    @model_validator(mode="after")
    def _check_whole(self) -> "EnterpriseIssuer":
        if (self.jwks is None) == (self.jwks_url is None):
            raise ValueError("needs either jwks_url or jwks")
        if self.accounts == "email" and not self.email_domains:
            raise ValueError("accounts by email need email_domains: no issuer may speak for every address")
        return self


def _read_json(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value) if value.strip() else {}
    except ValueError:
        raise ValueError("must be JSON, as the example shows") from None


def _fill_presets(value: Any) -> Any:
    content = _read_json(value)
    if not isinstance(content, dict) or not all(isinstance(entry, dict | BaseModel) for entry in content.values()):
        raise ValueError("must be an object of providers by name")
    if not all(_NAME.fullmatch(name) for name in content):
        raise ValueError("names of providers are small letters, digits and hyphens, 31 at most")
    return {name: {**_PRESETS.get(name, {}), **dict(entry)} for name, entry in content.items()}


def _refuse_twins(providers: dict[str, OidcProvider]) -> dict[str, OidcProvider]:
    """A person is known by issuer and subject, so two providers must not share an issuer."""
    if len({provider.issuer for provider in providers.values()}) < len(providers):
        raise ValueError("two providers have the same issuer")
    return providers


OidcProviders = Annotated[
    dict[str, OidcProvider], NoDecode, BeforeValidator(_fill_presets), AfterValidator(_refuse_twins)
]
EnterpriseIssuers = Annotated[dict[Issuer, EnterpriseIssuer], NoDecode, BeforeValidator(_read_json)]
