"""The end of an account: the account goes in; its rows, tokens, keys and applications are gone in one transaction."""

from sqlalchemy import select

from auth_server.oauth.server import Server
from auth_server.pages import oauth_apps
from shared.db.accounts import Account
from shared.db.oauth import ApiKey, Client, Family
from shared.db.run_kinds import delete_account_schedules


def close(server: Server, account: Account) -> None:
    """Foreign keys take along every row of the account; what other programs remember of it is called off."""
    server.db.get(Account, account.id, with_for_update=True)
    for app in server.db.scalars(select(Client).where(Client.owner_id == account.id)):
        oauth_apps.end(server, app)
    delete_account_schedules(server.db, account.id)
    living = (Family.account_id == account.id, Family.revoked_at.is_(None))
    server.events += [{"family": id} for id in server.db.scalars(select(Family.id).where(*living))]
    keys = select(ApiKey.key_hash).where(ApiKey.account_id == account.id)
    server.events += [{"token": key} for key in server.db.scalars(keys)]
    server.events.append({"account": account.public_id})
    server.db.delete(account)
    server.db.flush()
