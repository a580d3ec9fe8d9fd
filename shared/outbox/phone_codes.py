"""Codes that prove a phone number: six digits, written while the message is handed over.

A code follows from a key of the environment, so a row with its nonce gives nothing away.
"""

import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from shared.outbox.links import KeyGone
from shared.secrets import key_id, sign
from shared.settings import settings

PAGE = "/dashboard/settings/phones"
DIGITS = 6
LIFETIME = timedelta(minutes=10)


def build_page_address() -> str:
    return f"{settings().web_url}{PAGE}"


def make_facts(account: str) -> dict[str, str]:
    """What a delivery row stores of a code made now; `account` is the public id."""
    return {"account": account, "nonce": secrets.token_hex(16), "key": key_id(settings().encryption_keys[0])}


def derive_code(facts: Mapping[str, Any]) -> str:
    """Raises KeyGone."""
    for material in settings().encryption_keys:
        if key_id(material) == facts["key"]:
            number = int(sign(material, f"phone code\0{facts['account']}\0{facts['nonce']}"), 16)
            return f"{number % 10**DIGITS:0{DIGITS}}"
    raise KeyGone


def hash_code(code: str, number_hash: str) -> list[str]:
    """The hashes of a code, under each key of the settings, the newest first."""
    return [sign(material, f"phone code hash\0{number_hash}\0{code}") for material in settings().encryption_keys]


def text(facts: Mapping[str, Any]) -> str:
    minutes = LIFETIME // timedelta(minutes=1)
    return (
        f"{derive_code(facts)} is your {settings().service_name} code for this number. It works for {minutes} minutes."
        " If you did not ask for it, do not give it to anybody."
    )
