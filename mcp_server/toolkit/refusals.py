"""Refusals that tools and the gate word alike: a feature that needs a higher plan."""

from mcp_server.toolkit.context import Caller
from shared.errors import Paywall
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
