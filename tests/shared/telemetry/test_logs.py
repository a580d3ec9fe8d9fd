"""Log lines of all programs: one format, each written once, with the work and the account, never with contents."""

import json
import logging
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from rq.logutils import setup_loghandlers

from shared.settings import settings
from shared.telemetry.call_context import get_id, label_work, note_account
from shared.telemetry.logs import announce, configure_logging

SECRET = "awt_at_a_bearer_token"


@pytest.fixture
def logs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Sets the logging of this process up with such settings; afterwards it is as before."""
    names = [None, "rq.worker", "uvicorn.error", "httpx", "mcp", "award_travel"]
    before = [(logging.getLogger(n), logging.getLogger(n).level, logging.getLogger(n).handlers[:]) for n in names]

    def configure(**values: str) -> None:
        for name, value in values.items():
            monkeypatch.setitem(settings().__dict__, name, value)
        configure_logging()

    yield configure
    logging.captureWarnings(False)
    for logger, level, handlers in before:
        logger.setLevel(level)
        logger.handlers[:] = handlers


def _break() -> None:
    try:
        raise KeyError(SECRET)
    except KeyError as error:
        raise ValueError(f"could not read {SECRET}") from error


def test_a_text_line_has_time_level_logger_work_and_account(logs: Any, capfd: pytest.CaptureFixture[str]) -> None:
    logs(log_format="text")
    with label_work("run-7"):
        note_account("acc_1")
        logging.getLogger("jobs.runs").warning("kept for %s", "later")
    line = capfd.readouterr().err
    assert line[:4].isdigit()
    assert line[23:] == "Z WARNING jobs.runs [call=run-7 account=acc_1] kept for later\n"


def test_a_warning_of_python_is_one_line_of_the_same_format(logs: Any, capfd: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        logs(log_format="text")
        warnings.warn("no encoding was named", EncodingWarning, stacklevel=1)
    (line,) = capfd.readouterr().err.splitlines()
    assert line[23:].startswith("Z WARNING py.warnings ")
    assert "EncodingWarning: no encoding was named" in line


def test_a_json_line_has_the_same_as_fields(logs: Any, capfd: pytest.CaptureFixture[str]) -> None:
    logs(log_format="json")
    with label_work("c1", "acc_1"):
        logging.getLogger("shared.redis").error("Redis is down\nnow")
    fields = json.loads(capfd.readouterr().err)
    assert {name: fields[name] for name in ("level", "logger", "call", "account", "message")} == {
        "level": "ERROR",
        "logger": "shared.redis",
        "call": "c1",
        "account": "acc_1",
        "message": "Redis is down\nnow",
    }
    assert fields["time"].endswith("Z")


@pytest.mark.parametrize("form", ["text", "json"])
def test_an_exception_is_told_by_type_and_place_and_never_by_its_words(
    logs: Any, capfd: pytest.CaptureFixture[str], form: str
) -> None:
    logs(log_format=form)
    try:
        _break()
    except ValueError:
        logging.getLogger("any").exception("call failed")
    text = capfd.readouterr().err
    assert SECRET not in text
    assert ["KeyError" in text, "ValueError" in text, "_break" in text] == [True, True, True]


def test_at_the_level_debug_the_words_of_an_exception_are_written(logs: Any, capfd: pytest.CaptureFixture[str]) -> None:
    logs(log_format="text", log_level="DEBUG")
    try:
        _break()
    except ValueError:
        logging.getLogger("any").exception("call failed")
    assert f"could not read {SECRET}" in capfd.readouterr().err


def test_a_message_cannot_write_a_second_line(logs: Any, capfd: pytest.CaptureFixture[str]) -> None:
    logs(log_format="text")
    logging.getLogger("any").warning("name %s", "x\n2026-01-01T00:00:00.000Z ERROR forged \x1b[31m")
    text = capfd.readouterr().err
    assert (text.count("\n"), "\x1b" in text, "\\n2026" in text) == (1, False, True)


@pytest.mark.parametrize("name", ["rq.worker", "uvicorn.error"])
def test_a_line_of_a_library_with_a_handler_of_its_own_is_written_once(
    logs: Any, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    setup_loghandlers("INFO", name=name)
    logging.getLogger(name).addHandler(logging.StreamHandler())
    logs(log_format="text")
    setup_loghandlers("INFO", name=name)
    logging.getLogger(name).warning("once")
    output = capfd.readouterr()
    assert (output.out + output.err).count("once") == 1


@pytest.mark.parametrize("name", ["httpx", "mcp", "authlib"])
def test_libraries_that_write_addresses_and_contents_are_quiet_at_every_level(
    logs: Any, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    logs(log_level="DEBUG")
    logging.getLogger(f"{name}.part").info("GET https://example.test/feeds/%s", SECRET)
    assert SECRET not in capfd.readouterr().err


def test_the_line_a_program_begins_with_is_written_at_every_level(logs: Any, capfd: pytest.CaptureFixture[str]) -> None:
    logs(log_level="ERROR", log_format="text")
    announce("inbox", listens="127.0.0.1:2525")
    line = capfd.readouterr().err
    assert " INFO award_travel inbox 0." in line
    assert line.endswith("listens=127.0.0.1:2525\n")


def test_what_a_thread_learns_of_the_account_is_known_to_the_work_that_waits_for_it() -> None:
    import anyio
    import anyio.to_thread

    async def work() -> tuple[str, str]:
        with label_work("c1") as context:
            name = await anyio.to_thread.run_sync(get_id)
            await anyio.to_thread.run_sync(note_account, "acc_9")
            return name, context.account

    assert anyio.run(work) == ("c1", "acc_9")
