"""Filters common to watches of award seats."""

from decimal import Decimal

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column


class SeatFilters:
    """Taxes are per person, in the currency next to them."""

    nonstop_only: Mapped[bool] = mapped_column(server_default=sa.false())
    weekdays: Mapped[list[str] | None]  # mon to sun; None = any
    max_taxes: Mapped[Decimal | None]
    max_taxes_currency: Mapped[str | None] = mapped_column(sa.String(3))
