"""The demo account of a local installation: Pro plan and administrator, so that every tool can be tried."""

import secrets

from auth_server.accounts.accounts import check_password, create_account, find_account, hash_password
from deploy.local.home import DEMO, Home, write_private
from shared.db.base import transaction


def ensure_demo_account(home: Home) -> str | None:
    """Makes the account at the first start; returns its random password, saved in the home, or None once changed."""
    stored = home.demo_password.read_text(encoding="utf-8").strip() if home.demo_password.exists() else None
    password = stored or secrets.token_urlsafe(12)
    if not stored:
        write_private(home.demo_password, password + "\n")
    with transaction() as session:
        account = find_account(session, DEMO)
        if account is None:
            create_account(session, DEMO, password, plan="pro", admin=True)
        elif not stored:
            account.password_hash = hash_password(password, DEMO)
        elif not check_password(account, password):
            return None
    return password
