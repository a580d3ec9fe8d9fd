"""seats.aero: award seats of some 25 programmes from its last crawl, and the flights behind one of them.

With the operator's own key (which, for more than one person, needs a commercial agreement) all accounts share its
answers and its calls a day; without one each account's own connection is used, and no one else sees its answers.
Its live search is not used: it prices one programme at a time, and its rows cannot be looked
up again.
"""

from datetime import timedelta

from shared.providers.contract import Provider
from shared.providers.seats_aero.client import TAKE_TOGETHER, connect

PROVIDER = Provider(
    name="seats_aero",
    answers=("award_seats", "award_trip"),
    fresh_for=timedelta(hours=1),
    build=connect,
    credential="either",
    setting="seats_aero_api_key",
    terms="asker",
    calls_a_day=1000,
    page_rows=TAKE_TOGETHER,
)
