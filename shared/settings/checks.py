"""Checks of single settings; each returns the value to use, or raises ValueError with its remedy."""

import re
from ipaddress import ip_network
from urllib.parse import urlsplit

from pydantic import SecretStr

from shared.settings.identity_providers import check_outside

PLACEHOLDER, PASSWORD_PLACEHOLDER = "CHANGE-ME", "PASSWORD"  # as deploy/env.example has them
MIN_SECRET_LENGTH = 32
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
HOW_TO_MAKE_ONE = 'python3 -c "import secrets; print(secrets.token_urlsafe(32))" makes one'


def driver_url(value: str) -> str:
    """The database's address for SQLAlchemy, from any usual spelling."""
    head, _, tail = value.partition("://")
    if head.split("+")[0] not in ("postgres", "postgresql"):
        raise ValueError("must be a postgresql:// address")
    if "," not in tail:
        check_server(f"postgresql://{tail}", "postgresql")
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


def check_server(url: str, *schemes: str) -> str:
    """The address of a server, with one of these schemes. A password before the `@` may contain any character."""
    scheme, _, tail = url.partition("://")
    try:
        is_whole = scheme in schemes and urlsplit(f"//{tail.rpartition('@')[2]}").port != 0
    except ValueError:  # a port that is no number, or half an IPv6 address
        is_whole = False
    if not is_whole:
        raise ValueError(f"must be an address such as {schemes[0]}://HOST:PORT")
    return url


def check_web_address(url: str) -> str:
    if url and not urlsplit(check_server(url, "http", "https")).hostname:
        raise ValueError("names no host")
    return url.rstrip("/")


def check_level(name: str) -> str:
    if name.upper() not in LOG_LEVELS:
        raise ValueError(f"must be one of {', '.join(LOG_LEVELS)}")
    return name


def check_networks(text: str) -> str:
    """A comma list of networks."""
    for part in filter(None, (part.strip() for part in text.split(","))):
        try:
            ip_network(part, strict=False)
        except ValueError:
            raise ValueError("must be a comma list of networks such as 160.79.104.0/21") from None
    return text


def check_outside_base(value: str) -> str:
    """An outside address, without a trailing slash."""
    return check_outside(value).rstrip("/")


def read_numbers(text: str) -> dict[str, int]:
    """Whole numbers from 1 by name, from a comma list of NAME=NUMBER. Raises ValueError."""
    pairs = [pair.partition("=") for pair in text.split(",") if pair.strip()]
    if any(not number.strip().isdecimal() or int(number) < 1 for _, _, number in pairs):
        raise ValueError("must be a comma list of NAME=NUMBER, such as seats_aero=10,duffel=8")
    return {name.strip(): int(number) for name, _, number in pairs}


def check_numbers(text: str) -> str:
    read_numbers(text)
    return text


def check_origins(text: str) -> str:
    """A comma list of origins, each exactly as in a browser's header: they are compared byte for byte."""
    for origin in filter(None, (part.strip() for part in text.split(","))):
        scheme, _, place = origin.partition("://")
        usual = {"http": ":80", "https": ":443"}.get(scheme, "/")
        if not re.fullmatch(r"[a-z][a-z0-9+.\-]*://[a-z0-9._:\[\]\-]+", origin) or place.endswith(usual):
            raise ValueError("names an origin that is not like https://app.example.org, in small letters, without path")
    return text


def check_own_password(url: str) -> str:
    """Refuses a server address with the example's password."""
    if urlsplit(url).password == PASSWORD_PLACEHOLDER:
        raise ValueError(f"still has the password {PASSWORD_PLACEHOLDER} of the example; write the server's own")
    return url


def check_new_secrets(secret: SecretStr) -> SecretStr:
    """Refuses a secret, or a comma list of them, that is the example's or could be guessed."""
    values = [value.strip() for value in secret.get_secret_value().split(",") if value.strip()] or [""]
    if PLACEHOLDER in values:
        raise ValueError(f"is still {PLACEHOLDER}, which everybody can read in the example; {HOW_TO_MAKE_ONE}")
    if any(len(value) < MIN_SECRET_LENGTH for value in values):
        raise ValueError(f"needs at least {MIN_SECRET_LENGTH} characters in each value; {HOW_TO_MAKE_ONE}")
    return secret
