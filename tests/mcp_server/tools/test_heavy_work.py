"""Tools whose work takes the processor: one piece of an account at a time, and never on a database thread."""

import threading
from typing import Any

import anyio
import pytest

from mcp_server.calls.dispatch import dispatch
from mcp_server.toolkit.thread_limiter import limiter
from mcp_server.tools import branded_pdfs, folio
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
