"""The end of an account: the account goes in; its rows, tokens, keys and applications are gone in one transaction."""

from sqlalchemy import select

from auth_server.oauth.server import Server
from auth_server.pages import oauth_apps
from shared.db.accounts import Account
from shared.db.alerts import FlightAlert
from shared.db.bookings import WATCH, HotelBooking
from shared.db.inbox import InboundMail
from shared.db.oauth import ApiKey, Client, Family
from shared.db.route_monitors import RouteMonitor
from shared.db.runs import delete_schedules
from shared.db.standing_orders import StandingOrder

# What has a schedule of its own, by the schedule's kind: schedules name their subject without a foreign key.
_SCHEDULED = {
    "route_monitor": RouteMonitor.id,
    "flight_alert": FlightAlert.id,
    "standing_order": StandingOrder.id,
    WATCH: HotelBooking.id,
    "inbound_mail": InboundMail.number,
}


def close(server: Server, account: Account) -> None:
    """Foreign keys take along every row of the account; what other programs remember of it is called off."""
    server.db.get(Account, account.id, with_for_update=True)
    for app in server.db.scalars(select(Client).where(Client.owner_id == account.id)):
        oauth_apps.end(server, app)
    for kind, subject in _SCHEDULED.items():
        theirs = select(subject).where(subject.class_.account_id == account.id)
        delete_schedules(server.db, kind, list(server.db.scalars(theirs)))
    living = (Family.account_id == account.id, Family.revoked_at.is_(None))
    server.events += [{"family": id} for id in server.db.scalars(select(Family.id).where(*living))]
    keys = select(ApiKey.key_hash).where(ApiKey.account_id == account.id)
    server.events += [{"token": key} for key in server.db.scalars(keys)]
    server.events.append({"account": account.public_id})
    server.db.delete(account)
    server.db.flush()
