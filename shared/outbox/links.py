"""One-time links: purpose, account and nonce go in; the link's secret, and at hand-over its whole address, come out.

The secret follows from a key of the environment, so rows that hold the nonce and a hash give nothing away.
"""

from collections.abc import Mapping
from typing import Any

from shared.secrets import key_id, sign
from shared.settings import settings

PAGES = {"confirm_email": "/confirm", "reset_password": "/reset"}


class KeyGone(Exception):
    """The key a link was made with is no longer among the settings."""


def facts(purpose: str, account: str, nonce: str) -> dict[str, str]:
    """What a delivery row holds of a link made now."""
    return {"purpose": purpose, "account": account, "nonce": nonce, "key": key_id(settings().encryption_keys[0])}


def secret(held: Mapping[str, Any]) -> str:
    """Raises KeyGone."""
    for material in settings().encryption_keys:
        if key_id(material) == held["key"]:
            return sign(material, f"one-time link\0{held['purpose']}\0{held['account']}\0{held['nonce']}")
    raise KeyGone


def address(held: Mapping[str, Any]) -> str:
    return f"{settings().web_url}{PAGES[held['purpose']]}?token={secret(held)}"
