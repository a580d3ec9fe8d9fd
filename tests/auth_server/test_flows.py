"""Flows of one browser: a few at once, however many it sends, so that threads are left for everybody else."""

import threading

import anyio
import pytest

from auth_server.web import flows
from auth_server.web.flows import FLOWS_OF_A_BROWSER, run_counted
from auth_server.web.request_data import RequestData
from auth_server.web.unit_of_work import UnitOfWork


@pytest.mark.usefixtures("clean")
def test_of_one_browser_a_few_flows_run_at_once_and_another_is_answered() -> None:
    end, running = threading.Event(), list[str]()

    def wait(_: UnitOfWork, data: RequestData) -> bool:
        running.append(str(data.cookie))
        return end.wait(20)

    async def scene() -> list[str]:
        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(run_counted, wait, RequestData("GET", "/", "", cookie="a"))
            with anyio.fail_after(20):
                while len(running) < FLOWS_OF_A_BROWSER:
                    await anyio.sleep(0)
                await run_counted(lambda _uow, _data: None, RequestData("GET", "/", "", cookie="b"))
            begun = list(running)
            end.set()
        return begun

    flows.limiter.cache_clear()
    assert anyio.run(scene) == ["a"] * FLOWS_OF_A_BROWSER
    assert len(running) == 10
    flows.limiter.cache_clear()
