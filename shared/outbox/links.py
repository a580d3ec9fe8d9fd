"""Links in mails: purpose, account and nonce go in; the link's secret, and at hand-over its whole address, come out.

The secret follows from a key of the environment, so rows that hold the nonce and a hash give nothing away. Links that
end a kind of mail are no secret of a row: they follow from account and kind, and work as long as the key is known.
"""

from collections.abc import Mapping
from typing import Any

from shared.secrets import is_same_secret, key_id, sign
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


_MARK = 40  # hexadecimal characters of the signature


def _mark(material: str, account: str, kind: str) -> str:
    return sign(material, f"unsubscribe\0{account}\0{kind}")[:_MARK]


def unsubscribe(account: str, kind: str) -> str:
    """Where this account turns off this kind of mail, without signing in."""
    mark = _mark(settings().encryption_keys[0], account, kind)
    return f"{settings().web_url}/unsubscribe?token={kind}.{account}.{mark}"


def unsubscribed(token: str) -> tuple[str, str] | None:
    """The account and the kind of mail that such a link is about; None when it was not made here."""
    kind, _, rest = token.partition(".")
    account, _, mark = rest.rpartition(".")
    if any(is_same_secret(mark, _mark(material, account, kind)) for material in settings().encryption_keys):
        return account, kind
    return None
