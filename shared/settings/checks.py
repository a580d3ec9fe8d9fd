"""Checks of single settings; each returns the value as it is used, or raises ValueError with its remedy."""

import re
from urllib.parse import urlsplit

from pydantic import SecretStr

from shared.settings.identity_providers import check_outside

PLACEHOLDER, PASSWORD_PLACEHOLDER = "CHANGE-ME", "PASSWORD"  # as deploy/env.example has them
MIN_SECRET_LENGTH = 32
HOW_TO_MAKE_ONE = 'python3 -c "import secrets; print(secrets.token_urlsafe(32))" makes one'


def driver_url(value: str) -> str:
    """The database's address as SQLAlchemy wants it, from any of the usual spellings."""
    head, _, tail = value.partition("://")
    if head.split("+")[0] not in ("postgres", "postgresql"):
        raise ValueError("must be a postgresql:// address")
    return f"postgresql+psycopg://{_name_hosts(tail)}"


def _name_hosts(tail: str) -> str:
    """Several hosts, as libpq reads them (33.1.1.2 of its manual), go behind the question mark: SQLAlchemy and libpq
    both read them there."""
    parts = urlsplit(f"//{tail}")
    user, at, places = parts.netloc.rpartition("@")
    if "," not in places:
        return tail
    pairs = [place.partition(":")[::2] for place in places.split(",")]
    hosts, ports = ",".join(host for host, _ in pairs), ",".join(port or "5432" for _, port in pairs)
    query = "&".join(filter(None, (f"host={hosts}&port={ports}", parts.query)))
    return f"{user}{at}{parts.path}?{query}"


def check_outside_base(value: str) -> str:
    """An address outside, without a slash at its end."""
    return check_outside(value).rstrip("/")


def read_numbers(text: str) -> dict[str, int]:
    """Whole numbers from 1 on by name, from a comma list of NAME=NUMBER. Raises ValueError."""
    pairs = [pair.partition("=") for pair in text.split(",") if pair.strip()]
    if any(not number.strip().isdecimal() or int(number) < 1 for _, _, number in pairs):
        raise ValueError("must be a comma list of NAME=NUMBER, such as seats_aero=10,duffel=8")
    return {name.strip(): int(number) for name, _, number in pairs}


def check_numbers(text: str) -> str:
    read_numbers(text)
    return text


def check_origins(text: str) -> str:
    """A comma list of origins, each as a browser writes it into the header: byte for byte they are compared."""
    for origin in filter(None, (part.strip() for part in text.split(","))):
        scheme, _, place = origin.partition("://")
        usual = {"http": ":80", "https": ":443"}.get(scheme, "/")
        if not re.fullmatch(r"[a-z][a-z0-9+.\-]*://[a-z0-9._:\[\]\-]+", origin) or place.endswith(usual):
            raise ValueError("names an origin that is not like https://app.example.org, in small letters, without path")
    return text


def check_own_password(url: str) -> str:
    """Refuses the address of a server whose password is that of the example."""
    if urlsplit(url).password == PASSWORD_PLACEHOLDER:
        raise ValueError(f"still has the password {PASSWORD_PLACEHOLDER} of the example; write the server's own")
    return url


def check_new_secrets(secret: SecretStr) -> SecretStr:
    """Refuses a secret, or a comma list of them, that a reader of the example knows or a program could guess."""
    values = [value.strip() for value in secret.get_secret_value().split(",") if value.strip()] or [""]
    if PLACEHOLDER in values:
        raise ValueError(f"is still {PLACEHOLDER}, which everybody can read in the example; {HOW_TO_MAKE_ONE}")
    if any(len(value) < MIN_SECRET_LENGTH for value in values):
        raise ValueError(f"needs at least {MIN_SECRET_LENGTH} characters in each value; {HOW_TO_MAKE_ONE}")
    return secret
