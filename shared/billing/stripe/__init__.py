"""Stripe: checkout, customer portal and webhooks by plain HTTP. People pay on Stripe's pages; no card comes here."""

from shared.billing.contract import Door
from shared.billing.stripe.client import connect, list_plans
from shared.billing.stripe.webhooks import read_event

DOOR = Door("stripe", connect, read_event, list_plans)
