"""What an account holder has that makes hotel nights cheaper: statuses, cards and free night certificates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import sqlalchemy as sa
from sqlalchemy.orm import Session

from shared.db.cards import list_open_slugs
from shared.db.members import HOLDER
from shared.db.profile import Profile
from shared.db.statuses import LoyaltyStatus
from shared.db.vouchers import Voucher


@dataclass(frozen=True)
class HotelPerks:
    """`tiers` by programme; `currency` is the profile's, None if not set."""

    tiers: Mapping[str, str]
    cards: frozenset[str]
    vouchers: Sequence[Voucher]
    currency: str | None


def load_perks(session: Session, account_id: int, today: date) -> HotelPerks:
    """Reads what is valid on a day; only unused vouchers, the first to expire first.

    Reads statuses and the profile's currency in one statement, as every hotel search needs it.
    """
    status, voucher = LoyaltyStatus, Voucher
    is_valid = sa.or_(status.valid_until.is_(None), status.valid_until >= today, status.lifetime)
    tiers = sa.select(sa.func.json_object_agg(status.program, status.tier)).where(
        status.account_id == account_id, status.member == HOLDER, is_valid
    )
    currency = sa.select(Profile.currency).where(Profile.account_id == account_id)
    tier_by_program, own_currency = session.execute(
        sa.select(tiers.scalar_subquery(), currency.scalar_subquery())
    ).one()
    unused = sa.and_(voucher.flight_booking_id.is_(None), voucher.hotel_booking_id.is_(None))
    lasting = sa.or_(voucher.expires_on.is_(None), voucher.expires_on >= today)
    vouchers = sa.select(voucher).where(voucher.account_id == account_id, unused, lasting)
    return HotelPerks(
        tier_by_program or {},
        list_open_slugs(session, today, account_id),
        session.scalars(vouchers.order_by(voucher.expires_on.asc().nulls_last(), voucher.id)).all(),
        own_currency,
    )
