"""Ending a connection: its tokens are deleted first, then taken back at the provider where that can be done."""

from dataclasses import dataclass

import anyio
from sqlalchemy.orm import Session

from shared.db.accounts import Account
from shared.db.base import transaction
from shared.db.connections import Connection
from shared.db.flight_alerts import FlightAlert
from shared.db.pagination import count
from shared.db.route_monitors import RouteMonitor
from shared.domain.plurals import pluralize
from shared.errors import NotFound
from shared.outbox.enqueue import tell
from shared.providers import registry
from shared.providers.connectors import Connector, connector
from shared.services.connections.credentials import in_thread, opened, row_of

SECONDS = 8.0


@dataclass(frozen=True)
class Ended:
    revoked: bool
    watches: list[str]
    after: str


async def disconnect(account_id: int, provider: str) -> Ended:
    """Whatever the provider says, nothing of it is left here. Raises NotFound when there was no connection."""
    card = connector(provider)
    with anyio.CancelScope(shield=True):
        access, refresh, watches = await in_thread(_delete, account_id, provider, card)
        revoked = await _revoked(card, access, refresh)
    return Ended(revoked, watches, card.after)


async def _revoked(card: Connector, access: str | None, refresh: str | None) -> bool:
    if card.revoke is None or access is None:
        return False
    try:
        with anyio.fail_after(SECONDS):
            return await card.revoke(access, refresh)
    except Exception:  # the edge to other people's servers: the tokens are gone here in any case
        return False


def _delete(account_id: int, provider: str, card: Connector) -> tuple[str | None, str | None, list[str]]:
    with transaction(account_id) as session:
        row = row_of(session, account_id, provider, lock=True)
        if row is None or row.state == "disconnected":
            raise NotFound("connection", provider)
        access, refresh, since = opened(row.access_sealed), opened(row.refresh_sealed), row.connected_at
        _empty(row)
        session.flush()
        watches = _left_without(session, provider) if since is not None else []
        if since is not None:
            facts = {"title": card.title, "watches": watches, "after": card.after}
            key = f"connection:{row.id}:ended:{since.isoformat()}"
            account = session.get_one(Account, account_id)
            tell(session, account, "connection_ended", facts, dedupe_key=key, subject=("integration", provider))
    return access, refresh, watches


def _empty(row: Connection) -> None:
    row.state, row.details, row.scope = "disconnected", {}, None
    row.access_sealed, row.refresh_sealed, row.pending_sealed = None, None, None
    row.state_hash, row.pending_until, row.expires_at = None, None, None
    row.refreshing_until, row.syncing_until, row.connected_at, row.last_error = None, None, None, None


def _left_without(session: Session, provider: str) -> list[str]:
    """What watched by this connection alone."""
    source = registry.providers().get(provider)
    if source is None or "award_seats" not in source.answers or registry.operator_key(source):
        return []
    monitors = count(session, RouteMonitor, RouteMonitor.cancelled_at.is_(None))
    counted = ((monitors, "route monitor"), (count(session, FlightAlert), "flight alert"))
    return [pluralize(number, name) for number, name in counted if number]
