"""Access to an account, for an operator to read and end: sessions, applications and keys, each with an item id."""

from auth_server.accounts import access, api_keys, authorizations
from auth_server.accounts.security_events import record_event
from auth_server.web import sessions
from auth_server.web.unit_of_work import UnitOfWork
from shared.db.accounts import Account

_SHOWN = 16  # characters of the hash that names a session


def describe_access(uow: UnitOfWork, account: Account) -> dict[str, str]:
    """Describes each access to the account, by its item id."""
    rows = {}
    for session in sessions.list_active(uow.db, account.id):
        browser = session.browser or "A browser"
        rows[f"session:{session.id_hash[:_SHOWN]}"] = f"{browser}, last used {session.last_used_at:%Y-%m-%d}"
    for one in authorizations.list_active(uow.db, account.id):
        client_id = authorizations.find_client_id(uow.db, one.id)
        rows[f"application:{one.id}"] = f"{one.name} ({client_id}), last used {one.last_used_at:%Y-%m-%d}"
    for key in api_keys.list_active(uow.db, account.id):
        rows[f"key:{key.id}"] = f"{key.name}, since {key.created_at:%Y-%m-%d}"
    return rows


def end_access(uow: UnitOfWork, account: Account, item: str | None) -> str | None:
    """Ends everything, or the one item, and says what it was; None if the account has no such item.

    The owner gets a mail.
    """
    what = _end_everything(uow, account) if item is None else _end_item(uow, account, item)
    if what is not None:
        record_event(uow, account, "access_ended", subject=what)
    return what


def _end_everything(uow: UnitOfWork, account: Account) -> str:
    access.end_all(uow, account, "ended_by_operator")
    return "every session, application and key"


def _end_item(uow: UnitOfWork, account: Account, item: str) -> str | None:
    words = describe_access(uow, account).get(item)
    if words is None:
        return None
    kind, _, name = item.partition(":")
    if kind == "session":
        (row,) = [row for row in sessions.list_active(uow.db, account.id) if row.id_hash.startswith(name)]
        sessions.end(uow, row.id_hash)
    elif kind == "application":
        uow.revoke_family(name, "ended_by_operator")
    else:
        api_keys.revoke(uow, account.id, int(name))
    return f"the {kind} {words}"
