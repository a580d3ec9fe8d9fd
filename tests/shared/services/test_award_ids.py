"""Ids of award rows: whose they are, how long they are, and where they lead."""

from dataclasses import replace
from datetime import date, timedelta

import anyio
import pytest
from sqlalchemy import delete, select

from shared import clock
from shared.db.base import transaction
from shared.db.observations import AwardObservation
from shared.domain.plans import CABINS
from shared.providers.ask import Ask
from shared.providers.contract import AwardSeat
from shared.reference.load import reference
from shared.services.search.availability import search
from shared.services.search.award_ids import RowName, award_id, find_award_rows
from tests.support.fake_seats import WithSources, seat, selling
from tests.support.long_ids import build_long_award_id

NOBODYS = ("", "awd", "awd_", "awd__", "awd_!!_0", "awd_cm93LTE_", "sbx_cm93LTE_00", "é_é_é", "awd_cm93LTE_" + "0" * 24)


def travel_day() -> date:
    return clock.today() + timedelta(days=60)


def find_id(account_id: int) -> str:
    async def find() -> str | None:
        found = await search(Ask(account_id), "BA", [("LHR", "JFK")], travel_day(), CABINS)
        return found.options[0].trip_id

    id = anyio.run(find)
    assert id is not None
    return id


def find_row(account_id: int, trip_id: str) -> RowName | None:
    with transaction(account_id) as session:
        return find_award_rows(session, account_id, [trip_id])[0]


def test_an_id_is_the_same_each_time_and_good_for_its_account_alone(with_sources: WithSources) -> None:
    with_sources(selling("one", seat(travel_day(), ref="row-0", points=90_000), seat(travel_day())))
    mine, again, theirs = (find_id(n) for n in (1, 1, 2))
    assert mine == again != theirs
    assert (mine[:4], len(mine)) == ("awd_", 24)
    assert find_row(1, mine) == find_row(2, theirs) == ("one", "row-1")
    assert find_row(2, mine) is None


def test_an_id_handed_out_before_leads_where_it_led(live: None) -> None:
    long = build_long_award_id(1, "one", "row|1")
    assert find_row(1, long) == ("one", "row|1")
    assert find_row(2, long) is None
    assert find_row(1, long[:-1]) is None


def test_rows_of_one_day_and_cabin_are_told_apart_whatever_their_source(with_sources: WithSources) -> None:
    day = travel_day()
    with_sources(selling("one", seat(day), seat(day, ref="row-2", airline="AA")), selling("two", seat(day)))
    find_id(1)
    rows = [("one", seat(day)), ("one", seat(day, ref="row-2")), ("two", seat(day))]
    assert [find_row(1, award_id(1, name, row) or "") for name, row in rows] == [(n, r.ref) for n, r in rows]


def test_an_id_outlives_the_cached_answer_and_ends_with_the_sighting(with_sources: WithSources) -> None:
    with_sources(selling("one", seat(travel_day())))
    given = find_id(1)
    with transaction() as session:
        assert session.scalars(select(AwardObservation.ref)).all() == ["row-1"]
        session.execute(delete(AwardObservation))
    assert find_row(1, given) is None


@pytest.mark.parametrize(
    "given", [*NOBODYS, "awd_" + "A" * 20, "awd_" + "_" * 20, "awd_" + "=" * 20, "awd_" + "é" * 20]
)
def test_an_id_nobody_made_names_nothing(live: None, given: str) -> None:
    assert find_row(1, given) is None


def test_a_sandbox_id_names_nothing_in_live_mode(live: None) -> None:
    made = award_id(1, "sandbox", seat(travel_day()))
    assert made is not None
    assert made.startswith("sbx_")
    assert find_row(1, made) is None
    assert find_row(1, build_long_award_id(1, "sandbox", "sbx_row")) is None


def test_what_cannot_be_asked_for_again_has_no_id() -> None:
    nameless: list[AwardSeat] = [seat(travel_day(), ref=""), seat(date(2199, 1, 1)), seat(travel_day(), origin="L R")]
    assert {award_id(1, "one", row) for row in nameless} == {None}
    assert award_id(None, "one", seat(travel_day())) is None


def test_every_airport_and_cabin_has_a_place_in_an_id() -> None:
    codes = sorted(reference().airports)
    rows = [replace(seat(travel_day(), origin=code), cabin=CABINS[n % 4]) for n, code in enumerate(codes)]
    ids = {award_id(1, "one", row) for row in rows}
    assert (len(ids), {len(id or "") for id in ids}) == (len(codes), {24})
