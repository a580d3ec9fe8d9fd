"""The demo account: a home goes in; an account that can use every tool, and its password, come out."""

import secrets

from deploy.local.home import Home, write_private

DEMO = "demo@example.com"


def demo_account(home: Home) -> str | None:
    """Made at the first start; its random password stays in the home. None when somebody changed it since."""
    from auth_server.accounts.accounts import check_password, create_account, find_account, hash_password
    from shared.db.base import transaction

    kept = home.demo_password.read_text(encoding="utf-8").strip() if home.demo_password.exists() else None
    password = kept or secrets.token_urlsafe(12)
    if not kept:
        write_private(home.demo_password, password + "\n")
    with transaction() as session:
        account = find_account(session, DEMO)
        if account is None:
            create_account(session, DEMO, password, plan="pro", admin=True)
        elif not kept:
            account.password_hash = hash_password(password)
        elif not check_password(account, password):
            return None
    return password
