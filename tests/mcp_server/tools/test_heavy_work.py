"""Tools whose work takes the processor: one piece of an account at a time, and never on a database thread."""

import threading
from typing import Any

import anyio
import pytest

from mcp_server.calls.dispatch import dispatch
from mcp_server.toolkit.context import Caller, LiveCall
from mcp_server.toolkit.thread_limiter import THREADS_OF_AN_ACCOUNT, limiter
from mcp_server.tools import branded_pdfs, cards, folio
from mcp_server.views import sheets
from shared import clock
from shared.errors import NoData
from shared.limits import heavy_work
from shared.services import spending
from tests.support.people import People


@pytest.mark.parametrize(
    ("tool", "arguments", "work"),
    [
        ("audit_hotel_folio", {"chain": "hyatt", "folio_text": "2026-05-01|Resort fee|1.00"}, (folio, "_audit_text")),
        ("import_spending_statement", {"rows": [{"date": "2026-01-01", "amount": 1}]}, (spending, "read_statement")),
        ("generate_branded_pdf", {"summary": "x"}, (branded_pdfs, "_render")),
        ("get_portfolio", {"pasted": "x"}, (sheets, "read_pasted")),
    ],
)
def test_a_second_long_work_of_an_account_is_told_to_wait_and_none_holds_a_database_thread(
    people: People, monkeypatch: pytest.MonkeyPatch, tool: str, arguments: dict[str, Any], work: tuple[Any, str]
) -> None:
    begun, end, held = threading.Event(), threading.Event(), list[int]()

    def wait(*_: Any) -> None:
        begun.set()
        assert end.wait(20)
        raise NoData("nothing", [])

    async def scene() -> list[str]:
        limiter.cache_clear()
        answers = list[str]()

        async def call() -> None:
            answers.append((await dispatch(tool, arguments, people.paula, "mcp")).status)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            while not begun.is_set():
                await anyio.sleep(0)
            await call()
            held.append(limiter().borrowed_tokens)
            end.set()
        return answers

    monkeypatch.setattr(*work, wait)
    monkeypatch.setattr(heavy_work, "WAIT_SECONDS", 0.05)
    assert (anyio.run(scene), held) == (["busy", "no_data"], [0])


@pytest.mark.parametrize("way", ["def", "in_session"])
def test_of_no_account_more_than_two_calls_compute_at_once_and_another_does_not_wait(
    people: People, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """Ten at once of one account: each that computes shares the interpreter with the calls of everybody."""
    running, most, end, looking = 0, 0, threading.Event(), threading.Lock()

    def compute(*_: Any, **__: Any) -> None:
        nonlocal running, most
        with looking:
            running += 1
            most = max(most, running)
        assert end.wait(20)
        with looking:
            running -= 1
        raise NoData("nothing", [])

    async def call(caller: Caller, answered: list[str]) -> None:
        if way == "def":
            answered.append((await dispatch("list_my_cards", {}, caller, "mcp")).status)
            return
        with pytest.raises(NoData):
            await LiveCall(caller, "mcp", clock.now()).in_session(compute)
        answered.append("no_data")

    async def scene() -> list[str]:
        limiter.cache_clear()
        answered = list[str]()
        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(call, people.paula, answered)
            while running < THREADS_OF_AN_ACCOUNT:
                assert answered == []
                await anyio.sleep(0)
            other = await dispatch("list_trips", {}, people.bob, "mcp")
            while limiter().borrowed_tokens > THREADS_OF_AN_ACCOUNT:  # some are still looking who asks
                await anyio.sleep(0)
            assert (other.status, answered) == ("ok", [])
            end.set()
        return answered

    monkeypatch.setattr(cards, "load_card_page", compute)
    assert (anyio.run(scene), most) == (["no_data"] * 10, THREADS_OF_AN_ACCOUNT)
