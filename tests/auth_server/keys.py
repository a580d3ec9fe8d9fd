"""API keys as steps of a test: one is made below the web, and asked whether it works."""

from sqlalchemy import select

from auth_server.accounts import api_keys
from shared.db.accounts import Account
from shared.db.base import transaction
from tests.auth_server.in_process_browser import Browser


def make_key(browser: Browser, name: str = "Laptop") -> str:
    with transaction() as session:
        account_id = session.scalars(select(Account.id).where(Account.email == browser.email)).one()
        return api_keys.issue(session, account_id, name)[1]


def is_key_alive(key: str) -> bool:
    with transaction() as session:
        return bool(api_keys.describe(session, key)["active"])
