"""A person's profile for results, with defaults for what was never set."""

from datetime import date

from mcp_server.toolkit.results import Part
from shared.db.accounts import Account
from shared.db.profile import MAILS
from shared.db.profile import Profile as Row
from shared.domain import time_zones

CURRENCY, PASSENGERS = "USD", 1


class Mails(Part):
    flight_alerts: bool
    route_monitors: bool
    hotel_price_drops: bool
    standing_orders: bool
    deadlines: bool
    weekly_overview: bool
    product_news: bool


class Profile(Part):
    email: str | None  # None for an agent account that no person has claimed
    home_airport: str | None
    default_cabin: str | None
    currency: str
    country: str | None
    timezone: str
    preferred_airlines: list[str]
    avoided_airlines: list[str]
    default_passengers: int
    mail: Mails
    tier: str
    member_since: date


def new_profile() -> Row:
    """The profile of an account that has stored none yet."""
    return Row(preferred_airlines=[], avoided_airlines=[], **{f"mail_{kind}": on for kind, on in MAILS.items()})


def to_profile(account: Account, row: Row | None) -> Profile:
    settings = row or new_profile()
    return Profile.from_row(
        settings,
        email=account.email,
        currency=settings.currency or CURRENCY,
        timezone=settings.timezone or time_zones.UTC,
        default_passengers=settings.default_passengers or PASSENGERS,
        mail=Mails.model_validate({kind: getattr(settings, f"mail_{kind}") for kind in MAILS}),
        tier=account.plan,
        member_since=account.created_at.date(),
    )
