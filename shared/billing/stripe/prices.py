"""Plans and the ids of their prices at Stripe, as the settings name them."""

from collections.abc import Sequence

from shared.domain.plans import Plan
from shared.settings import settings


def list_plans() -> Sequence[Plan]:
    """The plans that are sold, the lowest first."""
    return sorted({Plan.of(slug) for slug, _ in settings().prices})


def find_price(plan: Plan) -> str:
    """The price a plan is sold at: the first of it in the setting. Raises KeyError."""
    return dict(reversed(settings().prices))[plan.slug]


def find_plan(price: str) -> Plan | None:
    """The plan of a price, also of one at which nothing is sold any longer."""
    return next((Plan.of(slug) for slug, known_price in settings().prices if known_price == price), None)
