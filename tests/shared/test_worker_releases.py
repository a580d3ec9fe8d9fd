"""How connections reach a server: several are accepted in each turn of its event loop."""

import asyncio
import os
import socket
from collections.abc import Sequence

import uvicorn
import uvloop

from shared.processes.worker_releases import open_listeners

MANY = 32


def _open_listeners() -> list[socket.socket]:
    return open_listeners(uvicorn.Config("none:none", port=0, log_config=None, workers=2))


async def _count_turns(listeners: Sequence[socket.socket]) -> int:
    """Of the event loop, until all of many connections are accepted that came at once."""
    loop, accepted = asyncio.get_running_loop(), list[asyncio.BaseTransport]()

    class Accepted(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            accepted.append(transport)

    servers = [await loop.create_server(Accepted, sock=one, backlog=MANY) for one in listeners]
    clients = [socket.create_connection(listeners[0].getsockname()) for _ in range(MANY)]
    turns = 0
    while len(accepted) < MANY:
        await asyncio.sleep(0)
        turns += 1
    for closing in (*accepted, *servers, *clients):
        closing.close()
    return turns


def _measure(listeners: Sequence[socket.socket]) -> int:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        turns = runner.run(_count_turns(listeners))
    for listener in listeners:
        listener.close()
    return turns


def test_a_crowd_of_connections_is_accepted_in_a_few_turns() -> None:
    alone, *others = _open_listeners()
    for other in others:
        other.close()
    assert _measure([alone]) >= MANY  # as libuv does it for one handle
    assert _measure(_open_listeners()) <= MANY // 4


def test_a_socket_that_another_program_still_accepts_on_is_never_made_to_block() -> None:
    """Programs that share it share the flag: the one that ends would wait in `accept` with what it has begun."""
    listeners = _open_listeners()
    try:
        assert {os.get_blocking(listener.fileno()) for listener in listeners} == {False}
    finally:
        for listener in listeners:
            listener.close()
