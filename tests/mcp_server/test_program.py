"""The program itself: what it says when settings are missing, and what it has written when it is told to stop."""

import gc
import os
import signal
import subprocess
import sys
from multiprocessing import Pipe

import anyio
import httpx
import pytest
from sqlalchemy import select

from mcp_server.app import READERS, run_forever
from mcp_server.toolkit.context import Caller
from shared.db.base import transaction
from shared.db.usage import ToolCall
from shared.processes.worker_processes import STARTUP_FAILURE
from shared.processes.worker_releases import run_release
from tests.mcp_server.auth_double import AuthDouble
from tests.mcp_server.conftest import addresses, bearer, listening, served
from tests.mcp_server.transport.test_revocation_events import until
from tests.support.people import account


@pytest.mark.slow  # starts the program
def test_missing_settings_are_told_together_and_the_program_ends_with_one() -> None:
    ended = subprocess.run([sys.executable, "-m", "mcp_server"], env={}, capture_output=True, text=True, timeout=90)
    assert ended.returncode == 1
    for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEYS", "SERVICE_CLIENT_SECRET"):
        assert name in ended.stderr
    assert "Traceback" not in ended.stderr


NEEDED_LATER = ("shared.domain.confirmations.mail_reader", "dkim", "shared.documents.branded_pdf", "fpdf")
LOADED = f"""
import sys
import mcp_server.app
from mcp_server.toolkit.registry import TOOLS
print([name for name in {NEEDED_LATER} if name in sys.modules])
print([tool.name for tool in TOOLS.values() if tool.returns.__pydantic_complete__])
"""


@pytest.mark.slow  # starts the program
def test_a_start_loads_nothing_that_only_some_calls_or_other_programs_need() -> None:
    """Readers of letters, and the validators of 142 results: a second of processor and 30 MB of each worker."""
    ended = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, timeout=120, check=True)
    assert ended.stdout.splitlines() == ["[]", "[]"]


class NoRelease:
    """A configuration whose application tells whether collections run, and then does not load."""

    log_config: dict[str, int] = {}

    def __init__(self) -> None:
        self.running: list[bool] = []

    def configure_logging(self) -> None:
        pass

    def load_release(self) -> None:
        self.running.append(gc.isenabled())
        raise LookupError("it does not load")


def test_no_collection_walks_what_is_loaded_and_what_does_not_load_ends_with_a_status(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Each walked what was loaded before it and freed nothing: half a second of a start."""
    config, (_, report) = NoRelease(), Pipe(duplex=False)
    before = signal.getsignal(signal.SIGHUP)
    try:
        with pytest.raises(SystemExit) as ended:
            run_release(config, lambda *_: None, [], report)
    finally:
        gc.enable()
        signal.signal(signal.SIGHUP, before)
    assert (config.running, ended.value.code) == ([False], STARTUP_FAILURE)
    assert "the application does not load: LookupError: it does not load" in caplog.messages


def test_collections_begin_when_everything_is_loaded() -> None:
    code = """
import gc
from shared.processes.garbage_collection import freeze_startup_objects, postpone_collections
postpone_collections()
freeze_startup_objects()
print(gc.isenabled(), gc.get_freeze_count() > 0, gc.get_threshold()[0] >= 700)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=90, check=True)
    assert ended.stdout.split() == ["True", "True", "True"]


RELEASE_LOADS = """
import os, socket
from mcp_server.workers import ServerConfig
before = set(os.listdir("/proc/self/fd"))
ServerConfig("mcp_server.app:build", factory=True, log_config=None).load_release()
opened = [os.readlink(f"/proc/self/fd/{name}") for name in set(os.listdir("/proc/self/fd")) - before
          if os.path.exists(f"/proc/self/fd/{name}")]
print(len(os.listdir("/proc/self/task")), [name for name in opened if "socket" in name or "eventpoll" in name])
"""


@pytest.mark.slow  # starts the program
def test_what_workers_are_forked_from_has_one_thread_and_no_connection() -> None:
    """A thread is not there after a fork, and its locks may be held; a connection would be used by two."""
    ended = subprocess.run(
        [sys.executable, "-c", RELEASE_LOADS], capture_output=True, text=True, timeout=120, check=True
    )
    assert ended.stdout.split(maxsplit=1) == ["1", "[]\n"]


READERS_LOAD = """
import runpy, sys
from importlib import import_module
for name in sys.argv[1:]:
    import_module(name)
runpy.run_module("mcp_server", run_name="__mp_main__")  # as the program of readers loads it
print([name for name in ("sqlalchemy", "psycopg", "pydantic", "uvicorn", "fpdf") if name in sys.modules])
"""


def test_the_program_of_readers_loads_no_database_and_no_server() -> None:
    """It has 17 MB and starts in 0.15 s; with them 57 MB and 0.75 s, alongside each worker."""
    line = [sys.executable, "-c", READERS_LOAD, *READERS]
    ended = subprocess.run(line, capture_output=True, text=True, timeout=90, check=True)
    assert ended.stdout.strip() == "[]"


def test_background_work_that_breaks_is_told_and_begun_again(caplog: pytest.LogCaptureFixture) -> None:
    begun = []

    async def work() -> None:
        begun.append(1)
        if len(begun) == 1:
            raise ValueError("a bug")
        await anyio.sleep_forever()

    async def watch() -> None:
        with anyio.move_on_after(1.5):
            await run_forever(work)

    anyio.run(watch)
    assert len(begun) == 2
    assert "begins again" in caplog.text


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


@pytest.mark.running_clock  # the program runs on the real clock, and tokens of the stand-in expire by it
@pytest.mark.slow  # starts the program twice over: two workers import everything
@pytest.mark.parametrize("workers", ["1", "2"])
def test_sigterm_writes_the_calls_just_made_before_the_program_ends(clean: None, workers: str) -> None:
    bob: Caller = account("bob")
    (auth_socket, auth_port), (mcp_socket, port) = listening(), listening()
    mcp_socket.close()
    auth = AuthDouble()
    command = [sys.executable, "-m", "mcp_server", "--port", str(port), "--workers", workers]
    with addresses(auth_port, port), served(auth.app(), auth_socket):
        token = auth.grant(bob)
        program = subprocess.Popen(command, env=os.environ.copy())
        try:
            assert until(
                lambda: _answers(f"http://127.0.0.1:{port}/readyz"), 90
            )  # two workers import everything on a machine that may be busy
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "no_such_tool"}}
            for _ in range(3):
                url = f"http://127.0.0.1:{port}/mcp"
                assert httpx.post(url, json=body, headers=bearer(token), trust_env=False).status_code == 200
        finally:
            program.send_signal(signal.SIGTERM)
            ended = program.wait(90)
    with transaction(bob.account_id) as session:
        assert len(session.execute(select(ToolCall.id)).all()) == 3
    assert ended in (0, -signal.SIGTERM)
