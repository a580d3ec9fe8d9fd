"""Connects and removes other providers' sign-ins on the sign-in methods page."""

from typing import Any

from auth_server.accounts import linked_identities, provider_journeys
from auth_server.accounts.provider_arrivals import METHODS_PAGE
from auth_server.pages.member import Member, form_for_member, redirect_back
from auth_server.web.flows import Flow
from auth_server.web.outcomes import FlowResult
from shared.settings.identity_providers import OidcProvider


def start_connecting(name: str, provider: OidcProvider, metadata: dict[str, Any]) -> Flow[FlowResult]:
    """The button "Connect", for someone whose sign-in is fresh."""

    def flow(member: Member) -> FlowResult:
        row = {"purpose": "connect", "fresh": False, "return_to": METHODS_PAGE}
        return provider_journeys.begin(member.uow, member.session, name, provider, metadata, **row)

    return form_for_member(flow, fresh=True, page=METHODS_PAGE)


def remove(member: Member) -> FlowResult:
    number = member.data.form_value("identity_id")
    if not (number.isascii() and number.isdecimal() and len(number) < 19):
        return redirect_back(METHODS_PAGE, "identity_removed")
    is_gone = linked_identities.remove_identity(member.uow, member.account, int(number), member.data.user_agent)
    return redirect_back(METHODS_PAGE, "identity_removed" if is_gone else "last_way")
