"""Connections to outside accounts: opened, listed, synchronised and ended."""

from datetime import datetime
from typing import Any, Literal

from sqlalchemy import select

from mcp_server.toolkit import Call, Effect, LiveCall, Part, Result, Tier, tool
from mcp_server.toolkit.refusals import paywall
from shared.db.connections import Connection
from shared.domain.plans import INTEGRATIONS
from shared.domain.plurals import pluralize
from shared.providers.connectors import connector
from shared.services.connections import disconnecting, sync
from shared.services.connections.connecting import open_link
from shared.services.connections.sync_report import MAX_LISTED

Provider = Literal["seats_aero", "awardwallet", "google_sheets", "tripit", "autopilot"]
State = Literal["connected", "disconnected", "pending", "broken", "not_configured"]


class ConnectLink(Result):
    authorize_url: str
    provider: str
    expires_at: datetime
    already_connected: bool


class Integration(Part):
    provider: str
    name: str
    state: State
    connected_at: datetime | None
    last_sync_at: datetime | None
    last_error: str | None
    used_by: list[str]


class Integrations(Result):
    integrations: list[Integration]


class Pulled(Part):
    balances: int
    statuses: int
    bookings: int
    trips: int


class Pushed(Part):
    rows: int
    bookings: int


class SyncChange(Part):
    kind: str
    id: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class SyncConflict(Part):
    kind: str
    id: str
    reason: str


class Synced(Result):
    provider: str
    pulled: Pulled
    pushed: Pushed
    changes: list[SyncChange]
    conflicts: list[SyncConflict]
    synced_at: datetime


class Disconnected(Result):
    provider: str
    disconnected: bool
    revoked_at_provider: bool


@tool("integrations", Tier.FREE, Effect.ADDS, "Connect an outside account", open_world=True)
def connect_integration(call: Call, provider: Provider) -> ConnectLink:
    """Connects AwardWallet, TripIt, seats.aero or Google Sheets to the user's account by a one-time link to log in.

    For "Can you link or hook up my TripIt?" For connection_required. seats_aero on every plan, others from Premium.
    Free.
    """
    if call.plan < INTEGRATIONS[provider]:
        raise paywall(call.caller, INTEGRATIONS[provider].slug, f"Connecting {connector(provider).title}")
    card = sync.require_configured(provider)
    link = open_link(call.db, call.account_id, provider)
    minutes = pluralize(round(card.life.total_seconds() / 60), "minute")
    return ConnectLink(
        message=f"Open the link within {minutes}, signed in to this service as the same account, and follow it"
        f" to {card.title}.",
        authorize_url=link.url,
        provider=provider,
        expires_at=link.expires_at,
        already_connected=link.already_connected,
    )


@tool("integrations", Tier.FREE, Effect.READS, "List connected accounts")
def list_integrations(call: Call) -> Integrations:
    """Lists the outside accounts and apps connected, as TripIt or AwardWallet: working, broken, last sync.

    For "Which apps are linked? Is my TripIt still working?" Free.
    """
    rows = {row.provider: row for row in call.db.scalars(select(Connection))}
    integrations = [_to_integration(name, rows.get(name), call.now) for name in INTEGRATIONS]
    connected = [i.name for i in integrations if i.state == "connected"]
    broken = [f"{i.name} has to be connected again." for i in integrations if i.state == "broken"]
    summary = f"Connected: {', '.join(connected)}." if connected else "Nothing is connected."
    return Integrations(message=" ".join([summary, *broken]), integrations=integrations)


def _to_integration(name: str, row: Connection | None, now: datetime) -> Integration:
    card = connector(name)
    return Integration(
        provider=name,
        name=card.title,
        state=_find_state(row, now) if card.configured() else "not_configured",
        connected_at=row.connected_at if row else None,
        last_sync_at=row.last_sync_at if row else None,
        last_error=row.last_error if row else None,
        used_by=list(card.used_by),
    )


def _find_state(row: Connection | None, now: datetime) -> State:
    """The state of a connection; an unused, expired link counts as disconnected."""
    if row is None:
        return "disconnected"
    if row.state == "pending":
        return "pending" if row.pending_until and row.pending_until > now else "disconnected"
    state: State = row.state  # type: ignore[assignment]
    return state


@tool("integrations", Tier.PREMIUM, Effect.REPLACES, "Sync a connected account", open_world=True)
async def sync_integration(call: LiveCall, provider: Provider, dry_run: bool = False) -> Synced:
    """Syncs AwardWallet or TripIt: pulls the latest balances and bookings, or exports to a Google Sheets spreadsheet.

    For "Get my new balances from AwardWallet." dry_run shows the changes. What the user changed stays, under conflicts.
    Premium.
    """
    outcome = await sync.sync(call.account_id, provider, dry_run=dry_run)
    report, name = outcome.report, connector(provider).title
    changed, conflicts = len(report.changes), len(report.conflicts)
    verb = "would change" if dry_run else "changed"
    skipped = f" Left as they were: {conflicts}; the field conflicts says why." if conflicts else ""
    message = f"{name}: {pluralize(changed, 'row')} {verb}.{skipped}"
    if connector(provider).pull is None and connector(provider).push is None:
        message = f"{name} answers. Nothing is copied: it is asked when you search for award seats."
    return Synced(
        message=message,
        provider=provider,
        pulled=Pulled.from_row(report),
        pushed=Pushed(rows=report.rows_pushed, bookings=report.bookings_pushed),
        changes=[SyncChange.model_validate(c) for c in report.changes[:MAX_LISTED]],
        conflicts=[SyncConflict.model_validate(c) for c in report.conflicts[:MAX_LISTED]],
        synced_at=outcome.synced_at,
    )


@tool("integrations", Tier.FREE, Effect.CHANGES, "Disconnect an outside account", open_world=True)
async def disconnect_integration(call: LiveCall, provider: Provider) -> Disconnected:
    """Disconnects or unlinks AwardWallet, TripIt, seats.aero or Google Sheets and deletes the tokens.

    For "Cut the link to my AwardWallet." Free.
    """
    ended = await disconnecting.disconnect(call.account_id, provider)
    warning = f" Without it nothing is found for {', '.join(ended.watches)}; they were kept." if ended.watches else ""
    title = connector(provider).title
    return Disconnected(
        message=f"{title} is disconnected and its tokens are deleted.{warning} {ended.after}".strip(),
        provider=provider,
        disconnected=True,
        revoked_at_provider=ended.revoked,
    )
