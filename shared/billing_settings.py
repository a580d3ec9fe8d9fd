"""The settings of plans: how they change hands, and what they cost."""

import re
from functools import cached_property
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field, SecretStr, field_validator, model_validator

from shared.setting_checks import check_outside_base

_PRICE = re.compile(r"(premium|pro|enterprise)=([A-Za-z0-9_]{1,100})")


class BillingSettings(BaseModel):
    """The part of the settings by which people pay for plans, or the operator gives them."""

    premium_price: float = 9.99
    pro_price: float | None = None  # as the pages say it; absent = on request, or said where people pay
    enterprise_price: float | None = None
    plan_change_text: str | None = None  # how people change their plan; absent = by writing to the operator
    plan_change_url: str | None = None
    billing: Literal["manual", "stripe"] = "manual"  # manual = the operator sets plans by command
    billing_grace_days: int = Field(7, ge=0, le=60)  # for which a plan is kept while its payment fails
    billing_trial_days: int = Field(0, ge=0, le=365)  # before the first payment of an account's first subscription
    stripe_secret_key: SecretStr | None = None
    stripe_webhook_secrets: SecretStr | None = None  # comma list: all are taken
    stripe_prices: str = ""  # comma list of plan=price id: the first of a plan is sold, all are recognised
    stripe_base_url: Annotated[str, AfterValidator(check_outside_base)] = "https://api.stripe.com"

    @field_validator("stripe_prices")
    @classmethod
    def _check_prices(cls, value: str) -> str:
        names = [_PRICE.fullmatch(part.strip()) for part in value.split(",") if part.strip()]
        if None in names:
            raise ValueError("must be a list such as premium=price_123,pro=price_456")
        ids = [name[2] for name in names if name]
        if len(ids) != len(set(ids)):
            raise ValueError("names one price twice")
        return value

    @model_validator(mode="after")
    def _check_stripe_is_whole(self) -> "BillingSettings":
        needs = {
            "STRIPE_SECRET_KEY": self.stripe_secret_key and self.stripe_secret_key.get_secret_value(),
            "STRIPE_WEBHOOK_SECRETS": self.stripe_webhook_secrets and self.stripe_webhook_secrets.get_secret_value(),
            "STRIPE_PRICES": self.stripe_prices,
        }
        missing = [name for name, value in needs.items() if not value]
        if self.billing == "stripe" and missing:
            raise ValueError(f"BILLING=stripe needs {', '.join(missing)}")
        return self

    @cached_property
    def prices(self) -> tuple[tuple[str, str], ...]:
        """Pairs of a plan and a price id at Stripe, as they stand in the setting."""
        return tuple((plan, price) for plan, price in _PRICE.findall(self.stripe_prices))
