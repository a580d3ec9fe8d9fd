"""Links in mails: one-time links to confirm or reset, and links that end a kind of mail.

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


def secret(link_facts: Mapping[str, Any]) -> str:
    """Raises KeyGone."""
    for material in settings().encryption_keys:
        if key_id(material) == link_facts["key"]:
            return sign(
                material, f"one-time link\0{link_facts['purpose']}\0{link_facts['account']}\0{link_facts['nonce']}"
            )
    raise KeyGone


def address(link_facts: Mapping[str, Any]) -> str:
    return f"{settings().web_url}{PAGES[link_facts['purpose']]}?token={secret(link_facts)}"


_SIGNATURE_CHARACTERS = 40  # hexadecimal characters of the signature


def _sign_unsubscribe(material: str, account: str, kind: str) -> str:
    return sign(material, f"unsubscribe\0{account}\0{kind}")[:_SIGNATURE_CHARACTERS]


def unsubscribe_url(account: str, kind: str) -> str:
    """Where this account turns off this kind of mail, without signing in."""
    signature = _sign_unsubscribe(settings().encryption_keys[0], account, kind)
    return f"{settings().web_url}/unsubscribe?token={kind}.{account}.{signature}"


def read_unsubscribe_token(token: str) -> tuple[str, str] | None:
    """The account and the kind of mail that such a link is about; None when it was not made here."""
    kind, _, rest = token.partition(".")
    account, _, signature = rest.rpartition(".")
    signatures = (_sign_unsubscribe(material, account, kind) for material in settings().encryption_keys)
    if any(is_same_secret(signature, valid) for valid in signatures):
        return account, kind
    return None
