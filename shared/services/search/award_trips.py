"""The flights behind an award offer, from the source that showed it."""

from collections.abc import Sequence
from functools import partial

from shared.errors import ConnectionRequired, NoData, NotFound
from shared.limits.concurrency import gather_limited
from shared.providers import registry
from shared.providers.ask import Ask
from shared.providers.contract import AwardTrip, Reading, TripQuestion, Unanswered
from shared.services.connections.credentials import Credentials
from shared.services.search.ask_each import MAX_PARALLEL
from shared.services.search.award_ids import RowName
from shared.services.search.provenance import require_answer

VERB = "award_trip"
WHAT = "The look-up of this award offer"


async def get_award_trips(
    ask: Ask, account_id: int, trip_id: str, row: RowName | None
) -> Reading[tuple[AwardTrip, ...]]:
    """The ways to fly one offer, at least one. `row` is what `find_award_rows` found for the id.

    Raises NotFound if it found none, ConnectionRequired or BackendUnavailable if the source cannot
    be asked or did not answer, and NoData when it no longer knows the offer.
    """
    source = registry.providers().get(row[0]) if row else None
    if row is None or source is None:
        await _require_connection(account_id)
        raise NotFound("award offer", trip_id)
    if VERB not in source.answers:
        raise NoData(f"{source.name} tells nothing of single flights.", missing=["trip details"])
    reading: Reading[tuple[AwardTrip, ...]] = await ask.one(source.name, VERB, TripQuestion(row[1]))
    require_answer([reading], VERB, WHAT)
    if not reading.value:
        raise NoData(
            f"{source.name} no longer knows this offer: it may have been booked. Search again.",
            missing=["trip details"],
        )
    return reading


async def _require_connection(account_id: int) -> None:
    """Refuses where only an account's own connection answers and there is none, and names what to connect."""
    cards = registry.providers_of(VERB)
    own = [p for p in cards if registry.scope(p, account_id).startswith("account-")]
    if not own or len(own) < len(cards):
        return
    mine = Credentials(account_id)
    for card in own:
        try:
            if await mine(card.name) is not None:
                return
        except Unanswered:
            return
    raise ConnectionRequired(f"{WHAT} needs your own {own[0].name} account; connect it first.", provider=own[0].name)


async def look_up_flights(ask: Ask, rows: Sequence[RowName | None]) -> list[AwardTrip | None]:
    """The flights of each offer's cheapest way, from its source; None without an answer.

    `rows` are what `find_award_rows` found for their ids.
    """

    async def look_up(row: RowName | None) -> AwardTrip | None:
        source = registry.providers().get(row[0]) if row else None
        if row is None or source is None or VERB not in source.answers:
            return None
        reading: Reading[tuple[AwardTrip, ...]] = await ask.one(source.name, VERB, TripQuestion(row[1]))
        return min(reading.value or (), key=lambda trip: (trip.points, trip.stops), default=None)

    return await gather_limited([partial(look_up, row) for row in rows], MAX_PARALLEL)
