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
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from deploy.cli import COMMANDS, GROUPS, main
from tests.support.service import ROOT

COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
SECONDS = 90  # without a character


def run_on_terminal(
    *words: str,
    columns: int = 80,
    program: Sequence[str | Path] = (sys.executable, "-m", "deploy.cli"),
    folder: Path = ROOT,
    end_after: str = "",
    meanwhile: Callable[[], None] = lambda: None,
    **more: str,
) -> tuple[int, str]:
    """(exit status, every character that came to a terminal that wide); Ctrl-C follows a text that is named.

    `meanwhile` is called between the two.
    """
    master, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    names = ("PATH", "LANG", "DATABASE_URL", "REDIS_URL", "SECRET_KEYS", "SERVICE_CLIENT_SECRET", "XDG_CONFIG_HOME")
    environment = {name: os.environ[name] for name in names if name in os.environ} | {"TERM": "xterm-256color"} | more
    process = subprocess.Popen(
        [*program, *words],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )
    os.close(terminal)
    try:
        text = _read_until(master, end_after)
        if end_after:
            assert end_after.replace("\r\n", "\n") in text, text
            meanwhile()
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
