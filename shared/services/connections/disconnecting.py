"""Disconnecting: the tokens are deleted here first, then revoked at the provider, if possible."""

from dataclasses import dataclass

import anyio
from sqlalchemy.orm import Session

from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.flight_alerts import FlightAlert
from shared.db.pagination import count
from shared.db.route_monitors import RouteMonitor
from shared.domain.plurals import pluralize
from shared.errors import NotFound
from shared.outbox.enqueue import tell
from shared.providers import registry
from shared.providers.connectors import Connector, connector
from shared.services.connections.credentials import find_connection, run_in_thread, unseal_token

REVOKE_SECONDS = 8.0


@dataclass(frozen=True)
class Disconnection:
    revoked: bool
    watches: list[str]
    after: str


async def disconnect(account_id: int, provider: str) -> Disconnection:
    """Deletes all of it here, whatever the provider says. Raises NotFound if there was no connection."""
    card = connector(provider)
    with anyio.CancelScope(shield=True):
        access, refresh, watches = await run_in_thread(_delete, account_id, provider, card)
        revoked = await _revoke(card, access, refresh)
    return Disconnection(revoked, watches, card.after)


async def _revoke(card: Connector, access: str | None, refresh: str | None) -> bool:
    if card.revoke is None or access is None:
        return False
    try:
        with anyio.fail_after(REVOKE_SECONDS):
            return await card.revoke(access, refresh)
    except Exception:  # the edge to other people's servers: the tokens are gone here in any case
        return False


def _delete(account_id: int, provider: str, card: Connector) -> tuple[str | None, str | None, list[str]]:
    with transaction(account_id) as session:
        row = find_connection(session, account_id, provider, lock=True)
        if row is None or row.state == "disconnected":
            raise NotFound("connection", provider)
        access, refresh, since = unseal_token(row.access_sealed), unseal_token(row.refresh_sealed), row.connected_at
        row.state, row.details, row.scope = "disconnected", {}, None
        row.access_sealed, row.refresh_sealed, row.pending_sealed = None, None, None
        row.state_hash, row.pending_until, row.expires_at = None, None, None
        row.refreshing_until, row.syncing_until, row.connected_at, row.last_error = None, None, None, None
        session.flush()
        watches = _list_affected_watches(session, provider) if since is not None else []
        if since is not None:
            facts = {"title": card.title, "watches": watches, "after": card.after}
            key = f"connection:{row.id}:ended:{since.isoformat()}"
            account = session.get_one(Account, account_id)
            tell(session, account, "connection_ended", facts, dedupe_key=key, subject=("integration", provider))
    return access, refresh, watches


def _list_affected_watches(session: Session, provider: str) -> list[str]:
    """The watches that used only this connection."""
    source = registry.providers().get(provider)
    if source is None or "award_seats" not in source.answers or registry.operator_key(source):
        return []
    monitors = count(session, RouteMonitor, RouteMonitor.cancelled_at.is_(None))
    counts = ((monitors, "route monitor"), (count(session, FlightAlert), "flight alert"))
    return [pluralize(number, name) for number, name in counts if number]
