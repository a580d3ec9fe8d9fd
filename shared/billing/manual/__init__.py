"""Plans without payment: the operator sets them with `award-travel user plan`, and pages say how to ask."""

from shared.billing.contract import Door

DOOR = Door("manual")
