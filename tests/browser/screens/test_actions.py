"""What switches change and what buttons send: the words posted to the chat, the calls, and what the model is told."""

import re

import pytest

from tests.browser.screens.samples import SAMPLES
from tests.browser.screens.stage import Stage

pytestmark = [pytest.mark.screens, pytest.mark.slow]  # starts a browser

SAMPLE = {sample.name: sample for sample in SAMPLES}


def open_sample(stage: Stage, name: str) -> None:
    sample = SAMPLE[name]
    sample.prepare(stage)
    stage.open(sample.tool, sample.arguments)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "trip-plan",
            r"Check whether the seats of this plan are still open: LHR to JFK · .+ ask me before any transfer\.",
        ),
        ("transfer-paths", r"I want to move points from Chase .+ to Finnair Plus\. What should I check .+\?"),
        ("portfolio", r"What should I do first about what ends soon\?"),
        ("deadlines", r"What should I do first about what ends soon\?"),
        ("watch", r"Stop watch 1, LHR to JFK\."),
    ],
)
def test_a_button_posts_one_whole_sentence_to_the_chat(stage: Stage, name: str, words: str) -> None:
    open_sample(stage, name)
    stage.click("#acts button")
    stage.tab.wait_for("host.posted.length")
    posted = stage.tab.evaluate("host.posted")
    assert len(posted) == 1
    assert re.fullmatch(words, posted[0])
    assert len(stage.calls) == 1  # the result alone: nothing was changed behind the person's back


def test_the_other_plan_is_drawn_whole(stage: Stage) -> None:
    open_sample(stage, "trip-plan")
    best = stage.text("#plan")
    stage.click("#choice label:nth-of-type(2)")
    stage.wait_for("document.querySelector('#choice input:checked').value === 'fallback'")
    plan = stage.look_inside("screen.data.fallback")
    assert f"{plan['points_total']:,}" in stage.text("#lead")
    assert "if the best is gone" in stage.text("#lead")
    assert stage.text("#plan") != best


def test_prices_are_shown_in_the_unit_that_is_chosen(stage: Stage) -> None:
    open_sample(stage, "hotel-prices")
    assert "150,000" in stage.text("#chart")
    stage.click("#units label:nth-of-type(2)")
    stage.wait_for("document.querySelector('#chart').innerText.includes('$1,500')")
    assert "150,000" not in stage.text("#chart")
    assert "$1,500" in stage.text(".figures")


def test_the_price_is_checked_now_and_the_model_is_told(stage: Stage) -> None:
    open_sample(stage, "hotel-prices")
    stage.click("#acts button")
    stage.wait_for("document.querySelector('#acts button').innerText === 'Checked'")
    assert [name for name, _ in stage.calls][1:] == ["check_hotel_booking_price", "get_hotel_price_history"]
    assert "the user checked the price of booking 1" in stage.tab.evaluate("host.informed[0]")
    assert stage.text(".outcome")


def test_another_cabin_changes_the_days_and_the_headline(stage: Stage) -> None:
    open_sample(stage, "month-of-seats")
    stage.click("#cabins label:nth-of-type(3)")
    stage.wait_for("document.querySelector('#cabins input:checked').value === 'business'")
    days = stage.look_inside("screen.data.days")
    prices = [day["cabins"]["business"]["points"] for day in days if "business" in day["cabins"]]
    assert f"{min(prices):,}" in stage.text("#lead")
    open_days = stage.look_inside("document.querySelectorAll('.day[data-state=available]').length")
    assert open_days == len(prices)
