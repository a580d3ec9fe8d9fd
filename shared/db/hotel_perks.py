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
    """`tiers` by programme; `currency` is the profile's, None where it says none."""

    tiers: Mapping[str, str]
    cards: frozenset[str]
    vouchers: Sequence[Voucher]
    currency: str | None


def load_perks(session: Session, account_id: int, today: date) -> HotelPerks:
    """Reads what is valid on a day; vouchers that are on no booking, the first to expire first."""
    status, voucher = LoyaltyStatus, Voucher
    is_valid = sa.or_(status.valid_until.is_(None), status.valid_until >= today, status.lifetime)
    tiers = sa.select(status.program, status.tier).where(
        status.account_id == account_id, status.member == HOLDER, is_valid
    )
    unused = sa.and_(voucher.flight_booking_id.is_(None), voucher.hotel_booking_id.is_(None))
    lasting = sa.or_(voucher.expires_on.is_(None), voucher.expires_on >= today)
    vouchers = sa.select(voucher).where(voucher.account_id == account_id, unused, lasting)
    return HotelPerks(
        {row.program: row.tier for row in session.execute(tiers)},
        list_open_slugs(session, today, account_id),
        session.scalars(vouchers.order_by(voucher.expires_on.asc().nulls_last(), voucher.id)).all(),
        session.scalar(sa.select(Profile.currency).where(Profile.account_id == account_id)),
    )
