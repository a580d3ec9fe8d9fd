"""Deletion of an account with its rows, tokens, keys and applications, in one transaction."""

from sqlalchemy import select

from auth_server.oauth.clients import delete_client
from auth_server.web.unit_of_work import UnitOfWork
from shared.db.accounts import Account
from shared.db.billing import BillingCustomer, make_due
from shared.db.call_figures import take_out_calls
from shared.db.oauth import ApiKey, Client, Family
from shared.db.run_kinds import delete_account_schedules


def delete_account(uow: UnitOfWork, account: Account) -> None:
    """Foreign keys delete the account's rows; events tell the other programs to drop its cached data."""
    uow.db.get(Account, account.id, with_for_update=True)
    for app in uow.db.scalars(select(Client).where(Client.owner_id == account.id)):
        delete_client(uow, app)
    delete_account_schedules(uow.db, account.id)
    make_due(uow.db, BillingCustomer.account_id == account.id)  # its subscription ends at once
    active = (Family.account_id == account.id, Family.revoked_at.is_(None))
    uow.events += [{"family": family_id} for family_id in uow.db.scalars(select(Family.id).where(*active))]
    keys = select(ApiKey.key_hash).where(ApiKey.account_id == account.id)
    uow.events += [{"token": key} for key in uow.db.scalars(keys)]
    uow.events.append({"account": account.public_id})
    take_out_calls(uow.db, account.id)
    uow.db.delete(account)
    uow.db.flush()
