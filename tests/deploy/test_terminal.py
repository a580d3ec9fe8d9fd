"""The command line on a real terminal: a pseudo-terminal of 80 columns, and what a person then sees."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from deploy.cli import COMMANDS, GROUPS, main
from tests.support.service import ROOT, folder_for_homes

COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
SECONDS = 90  # without a character


def run_on_terminal(*words: str, columns: int = 80, end_after: str = "", **more: str) -> tuple[int, str]:
    """(exit status, every character that came to a terminal that wide); Ctrl-C follows a text that is named."""
    master, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    names = ("PATH", "LANG", "DATABASE_URL", "REDIS_URL", "SECRET_KEYS", "SERVICE_CLIENT_SECRET", "XDG_CONFIG_HOME")
    environment = {name: os.environ[name] for name in names if name in os.environ} | {"TERM": "xterm-256color"} | more
    line = [sys.executable, "-m", "deploy.cli", *words]
    process = subprocess.Popen(
        line, stdin=terminal, stdout=terminal, stderr=terminal, cwd=ROOT, env=environment, start_new_session=True
    )
    os.close(terminal)
    try:
        text = _read_until(master, end_after)
        if end_after:
            process.send_signal(signal.SIGINT)
            text += _read_until(master, "")
        return process.wait(90), text
    finally:
        process.kill()
        process.wait()
        os.close(master)


def _read_until(master: int, end: str) -> str:
    """What comes until the text stands there; without one, until the program has closed the terminal."""
    output = b""
    while not (end and end.encode() in output) and select.select([master], [], [], SECONDS)[0]:
        try:
            output += os.read(master, 65_536)
        except OSError:  # Linux says so when the other end is closed
            break
    return output.decode(errors="replace").replace("\r\n", "\n")


def find_long_lines(text: str, columns: int = 80) -> list[str]:
    return [line for line in COLOUR.sub("", text).splitlines() if len(line) > columns]


def test_help_has_every_command_once_and_fits_the_terminal() -> None:
    status, text = run_on_terminal(HOME="/home/ann")
    grouped = [name for names in GROUPS.values() for name in names]
    assert (status, sorted(grouped)) == (0, sorted(COMMANDS))
    shown = re.findall(r"^  ([a-z-]+)  +\S", COLOUR.sub("", text), re.M)
    assert shown == grouped
    assert "\x1b[1mExamples\x1b[0m" in text
    assert [line for line in find_long_lines(text) if "://" not in line] == []


def test_every_example_of_the_help_is_a_command_with_its_options() -> None:
    from deploy.cli import EXAMPLES, build_parser

    for line in EXAMPLES:
        assert build_parser().parse_args(line.split()[1:]).command in COMMANDS


@pytest.mark.parametrize(("more", "coloured"), [({}, False), ({"FORCE_COLOR": "1"}, True), ({"NO_COLOR": "1"}, False)])
def test_colour_stays_out_of_pipes_unless_it_is_forced(
    more: dict[str, str], coloured: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in more.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 0
    assert ("\x1b[" in capsys.readouterr().out) == coloured


def test_a_terminal_without_colour_gets_none() -> None:
    assert "\x1b[" not in run_on_terminal("--help", NO_COLOR="1")[1]
    assert "\x1b[" not in run_on_terminal("--help", TERM="dumb")[1]


def test_open_names_the_mend_where_nothing_runs(tmp_path: Path) -> None:
    status, text = run_on_terminal(
        "open", "--home", str(tmp_path), XDG_CONFIG_HOME=str(tmp_path), **dict.fromkeys(("DATABASE_URL",), "")
    )
    assert status == 1
    assert "start it with award-travel up" in text


@pytest.mark.slow  # starts the service
@pytest.mark.e2e
def test_up_ends_with_one_screen_and_the_next_step() -> None:
    with folder_for_homes() as folder:
        home, ports = str(folder / "home"), ("--web-port", "0", "--mcp-port", "0")
        own = {"HOME": str(folder), "DATABASE_URL": "", "REDIS_URL": "", "SECRET_KEYS": "", "SERVICE_CLIENT_SECRET": ""}
        own |= {"SERVICE_NAME": "Miles [and] More"}
        end = "Ctrl-C stops everything; nothing is lost.\r\n"
        status, text = run_on_terminal("up", "--home", home, *ports, end_after=end, **own)
        password = (folder / "home" / "demo-password").read_text(encoding="utf-8").strip()
    assert status == 0, text
    assert text.startswith("Miles [and] More is starting")
    screen = COLOUR.sub("", text[text.index("Miles [and] More is running.") :].partition("Ctrl-C")[0])
    assert find_long_lines(screen) == []
    assert screen.count("\n") <= 22
    url = re.search(r"Next: open (http://127.0.0.1:[0-9]+) and sign in as demo@example.com\n", screen)
    assert url, screen
    assert f"with the password {password}" in screen
    assert f"claude mcp add --transport http award-travel {url[1]}/mcp\n" in screen
    assert f'{{"mcpServers": {{"award-travel": {{"url": "{url[1]}/mcp"}}}}}}\n' in screen
    assert "[2mFolder" in text
