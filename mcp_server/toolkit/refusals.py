"""Refusals that tools and the gate share: a higher plan is needed, or more than the person allowed."""

from mcp_server.toolkit.context import Caller
from shared.domain.mcp_addresses import McpAddress
from shared.errors import AdminOnly, Fault, Invalid, LimitReached, Paywall
from shared.settings import settings


def paywall(caller: Caller, required: str, feature: str, free_alternative: str | None = None) -> Paywall:
    return Paywall(
        f"{feature} needs the {required.title()} plan; this account is on {caller.plan.slug.title()}.",
        required=required,
        current=caller.plan.slug,
        feature=feature,
        upgrade_url=f"{settings().web_url}/plans",
        free_alternative=free_alternative,
    )


def refuse_change(name: str) -> Invalid:
    """Refuses a change by an application that may only read."""
    refusal = Invalid(Fault("name", "changes data, and this application may only read", "a tool that reads"))
    refusal.message = (
        f"{name} changes data, and this application may only read. To let it change data, connect it to"
        f" {settings().mcp_url} again and leave “Reading only” unticked on the page that asks."
    )
    return refusal


def refuse_elsewhere(name: str, address: McpAddress) -> Invalid:
    """Refuses a tool that exists, but not at the application's address."""
    refusal = Invalid(Fault("name", "is not a tool of this address", f"a name from tools/list of {address.path}"))
    refusal.message = (
        f"{name} is not offered at {address.path}, which has {address.about}. To use it, connect the application to"
        f" {settings().mcp_url}."
    )
    return refusal


def refuse_administration(name: str) -> AdminOnly:
    return AdminOnly(
        f"{name} is for administrators, and this application or key was not allowed to administer the service."
        " Connect it again, or make another key, and tick “Also administer this service” there, after a second factor."
    )


def refuse_files() -> LimitReached:
    """Refuses files to an agent's account that no one has claimed."""
    words = (
        "No one has claimed this agent yet, so it keeps no files and gets no mail address. Its person opens the"
        f" claim_url that came with the API key, or enters the claim code at {settings().web_url}/dashboard/claim."
    )
    return LimitReached(words, limit="files_of_unclaimed_agents", current=0, cap=0)
