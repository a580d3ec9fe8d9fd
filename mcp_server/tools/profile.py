"""The profile: travel preferences and which mails are sent."""

from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool
from sqlalchemy import select

from mcp_server.toolkit import Call, Effect, Result, Tier, tool
from mcp_server.toolkit.edits import describe_changes, edit
from mcp_server.toolkit.parameters import AirportOrCity, AnyName, Cabin, Country, Currency, Passengers, open_object
from mcp_server.views.profile import Profile, new_profile, to_profile
from shared.db.accounts import Account, lock
from shared.db.profile import MAILS
from shared.db.profile import Profile as Row
from shared.domain import time_zones
from shared.domain.plurals import pluralize
from shared.errors import Fault, Invalid
from shared.reference.countries import load_country_names

LISTS = ("preferred_airlines", "avoided_airlines")
Airlines = Annotated[list[AnyName], Field(max_length=20)]
Mail = Annotated[dict[str, StrictBool], open_object(MAILS, **dict.fromkeys(MAILS, "boolean"))]
_PROFILE = select(Account, Row).outerjoin(Row, Row.account_id == Account.id)  # of the caller: the session sees no other
Clearable = Literal[
    "home_airport",
    "default_cabin",
    "currency",
    "country",
    "timezone",
    "preferred_airlines",
    "avoided_airlines",
    "default_passengers",
]


class ShownProfile(Result):
    profile: Profile


class UpdatedProfile(Result):
    profile: Profile
    changed: list[str]


@tool("account", Tier.FREE, Effect.READS, "Show my settings")
def get_profile(call: Call) -> ShownProfile:
    """Shows the user's settings: home airport, default cabin, currency, timezone, airlines, and which emails are on.

    For "What is my home airport set to?" Free.
    """
    account, row = call.db.execute(_PROFILE).one()
    profile = to_profile(account, row)
    home = f"home airport {profile.home_airport}" if profile.home_airport else "no home airport"
    cabin = f", {profile.default_cabin.replace('_', ' ')} cabin" if profile.default_cabin else ""
    settings = f"{home}{cabin}, {pluralize(profile.default_passengers, 'passenger')}, prices in {profile.currency}"
    page = f"{call.settings.web_url}/dashboard/account"
    profile_text = f"Your profile: {settings}. All your data, a copy of it, and deleting the account: {page}"
    return ShownProfile(message=profile_text, profile=profile)


@tool("account", Tier.FREE, Effect.CHANGES, "Change my settings")
def update_profile(
    call: Call,
    home_airport: AirportOrCity | None = None,
    default_cabin: Cabin | None = None,
    currency: Currency | None = None,
    country: Country | None = None,
    timezone: Annotated[str | None, Field(max_length=60, description="IANA name.")] = None,
    preferred_airlines: Airlines | None = None,
    avoided_airlines: Airlines | None = None,
    default_passengers: Passengers | None = None,
    mail: Annotated[Mail | None, Field(description="Mails.")] = None,
    clear: list[Clearable] | None = None,
) -> UpdatedProfile:
    """Changes the user's settings: home airport, usual cabin, currency, avoided airlines, emails to receive.

    For "I moved: from now on fly me from Denver, in business, and send me no mails." Free.
    """
    changes = {
        "home_airport": home_airport and _check_airport(call, home_airport),
        "default_cabin": default_cabin,
        "currency": currency,
        "country": country and _check_country(country),
        "timezone": timezone if timezone is None else _resolve_zone(timezone),
        "preferred_airlines": _resolve_airlines(call, preferred_airlines),
        "avoided_airlines": _resolve_airlines(call, avoided_airlines),
        "default_passengers": default_passengers,
    }
    mails = _build_mail_columns(mail or {})
    lock(call.db, call.account_id)
    account = call.db.get_one(Account, call.account_id)
    row = call.db.get(Row, call.account_id) or new_profile()
    before = to_profile(account, row)
    edit(row, call.now, changes | mails, clear)
    for name in LISTS:
        setattr(row, name, getattr(row, name) or [])
    if both := sorted({*row.preferred_airlines} & {*row.avoided_airlines}):
        raise Invalid(Fault("avoided_airlines", f"and preferred_airlines both name {both[0]}", "each airline in one"))
    after = to_profile(account, row)
    changed = [name for name in Profile.model_fields if getattr(after, name) != getattr(before, name)]
    if changed:
        call.db.add(row)
        call.db.flush()
    mails = {kind: on for kind, on in after.mail if on != getattr(before.mail, kind)}
    message = describe_changes("your profile", after, changed, mail=mails)
    return UpdatedProfile(message=message, profile=after, changed=changed)


def _check_airport(call: Call, code: str) -> str:
    call.reference.city(code)
    return code


def _check_country(code: str) -> str:
    if code not in load_country_names().values():
        raise Invalid(Fault("country", "is not a country", "an ISO code of two letters such as GB"))
    return code


def _resolve_zone(text: str) -> str:
    if (name := time_zones.find_zone_name(text)) is None:
        raise Invalid(Fault("timezone", "is not a time zone", "an IANA name such as Europe/Paris"))
    return name


def _resolve_airlines(call: Call, texts: list[str] | None) -> list[str] | None:
    """The code of each airline, once: also of one without awards, whose fares are found. Raises NotFound or
    Candidates."""
    return None if texts is None else list(dict.fromkeys(call.reference.carrier(text).iata for text in texts))


def _build_mail_columns(mail: dict[str, bool]) -> dict[str, Any]:
    if unknown := [kind for kind in mail if kind not in MAILS]:
        faulty = f"names {unknown[0][:40]!r}, which is no kind of mail"
        raise Invalid(Fault("mail", faulty, f"any of {', '.join(MAILS)}"))
    return {f"mail_{kind}": on for kind, on in mail.items()}
