"""Tokens: prefixes, lifetimes and scope. They are opaque (RFC 6749 1.4) and stored only as hashes."""

import re
from datetime import timedelta

from auth_server.oauth.redirect_uris import OUT_OF_BAND
from shared.secrets import mint
from shared.settings import SCOPE

ACCESS, REFRESH, CODE = "awt_at_", "awt_rt_", "awt_ac_"
ACCESS_SECONDS = 3600
ACCESS_LIFE = timedelta(seconds=ACCESS_SECONDS)
CODE_LIFE = timedelta(seconds=60)
COPIED_CODE_LIFE = timedelta(minutes=5)  # of a code a person has to copy
RETRY_WINDOW = timedelta(seconds=60)  # a retired refresh token yields the same successor again for this long
MAX_RETRIES = 20
# From then until this age it is refused and ends nothing while its successor is unused: programs of one installation
# share their tokens and refresh when they next need to (deploy/docs/security.md).
LATE_WINDOW = timedelta(hours=1)
SHOWN_LATE = 1_000  # stored as the retry count of a token refused in this window
SUSPICION = timedelta(days=1)  # during which a new consent to the application ends this authorization
SUPPORTED = f"{SCOPE} openid email"
# RFC 6749 3.3, and stray blanks, which well-known hosts send.
SCOPE_SYNTAX = re.compile(r"[\x20\x21\x23-\x5b\x5d-\x7e]*")


def grant_scope(requested: str | None) -> str:
    """The granted scope: everything without a request, else the tools and what was asked for (RFC 6749 3.3)."""
    names = {SCOPE, *(requested or SUPPORTED).split()}
    return " ".join(name for name in SUPPORTED.split() if name in names)


def mint_access_token(**_: object) -> str:
    return mint(ACCESS)


def mint_refresh_token(**_: object) -> str:
    return mint(REFRESH)


def choose_code_life(redirect_uri: str) -> timedelta:
    return COPIED_CODE_LIFE if redirect_uri == OUT_OF_BAND else CODE_LIFE
