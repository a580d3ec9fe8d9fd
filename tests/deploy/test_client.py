"""The user's command line against the running service: login, lists, calls, exit statuses, completion."""

# ruff: noqa: F811 - fixtures are taken from another part's tests

import io
import json
import shutil
import stat
import subprocess
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import argcomplete.finders
import httpx
import pytest
from argcomplete import CompletionFinder
from rich.console import Console

from deploy.cli import main
from deploy.client import tables
from deploy.client.commands import build_tool_parser
from deploy.client.try_client import _open_next_page, open_browser
from deploy.errors import CommandError
from mcp_server.toolkit.example_arguments import example_arguments
from mcp_server.toolkit.registry import TOOLS
from shared.secrets import mint
from tests.mcp_server.rest.conftest import World, people, running, world  # noqa: F401 - fixtures
from tests.support.people import People

Say = Callable[..., tuple[int, str, str]]
ROOT = Path(__file__).parents[2]


def test_a_machine_without_a_browser_says_so_at_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    open_browser("https://award.test/oauth/authorize")
    said = capsys.readouterr().out
    assert said.index("https://award.test/oauth/authorize") < said.index("No browser opens here")


@pytest.fixture
def say(
    world: World,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Say:
    """say("tools") -> (exit status, what was printed, what was said about a fault), in its own home."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    def run(*words: str, given: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8"))
        try:
            status = main(words)
        except SystemExit as ended:
            status = int(ended.code or 0)
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def alice(say: Say, world: World, people: People) -> Say:
    assert say("login", "--url", world.url, "--key", world.key(people.alice))[0] == 0
    return say


def test_login_keeps_a_key_that_works_for_its_owner_alone(
    say: Say, world: World, people: People, tmp_path: Path
) -> None:
    key = world.key(people.alice)
    status, said, _ = say("login", "--url", world.url + "/mcp", "--key", given=key + "\n")
    kept = tmp_path / "award-travel" / "login.json"
    assert (status, key in said) == (0, False)
    assert json.loads(kept.read_text(encoding="utf-8")) == {"url": world.url, "key": key}
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700


def test_login_with_a_bad_key_or_address_keeps_nothing(say: Say, world: World, tmp_path: Path) -> None:
    tries = {
        ("--url", world.url, "--key", mint("awt_ak_")): 3,
        ("--url", "http://127.0.0.1:9", "--key", "x"): 4,
        ("--url", "http://example.com", "--key", "x"): 2,
        ("--url", world.url, "--key"): 2,
        ("--key", "x"): 2,
    }
    for words, status in tries.items():
        assert say("login", *words)[0] == status, words
    assert not (tmp_path / "award-travel").exists()


def test_before_login_the_mend_is_told(say: Say) -> None:
    for words in (("tools",), ("call", "list_trips")):
        status, _, complaint = say(*words)
        assert (status, "award-travel login --url URL --key" in complaint) == (2, True)


DAMAGED = [
    "",
    "[]",
    "{}",
    '{"url": 5, "key": []}',
    '{"url": "http://x y", "key": "k"}',
    '{"url": "", "key": "k"}',
    '{"url": "http://[::1", "key": "k"}',
    '{"url": "http://127.0.0.1:9", "key": "\u00e9"}',
]


@pytest.mark.parametrize("content", DAMAGED)
def test_a_login_file_that_is_damaged_is_none(say: Say, tmp_path: Path, content: str) -> None:
    (tmp_path / "award-travel").mkdir()
    (tmp_path / "award-travel" / "login.json").write_text(content, encoding="utf-8")
    status, _, fault = say("tools")
    assert status == 2
    assert "award-travel login --url URL --key" in fault


def test_a_terminal_without_all_letters_is_still_told_everything(alice: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    alice("call", "add_card", "--card", "\u00dcbung", "--custom")
    for as_json, shown in (([], "?bung"), (["--json"], '"\\u00dcbung"')):
        poor = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", poor)
            assert main(["call", "list_my_cards", *as_json]) == 0
            poor.flush()
        assert shown in poor.buffer.getvalue().decode("ascii")  # type: ignore[attr-defined]


def test_a_number_is_emptied_by_empty_text(alice: Say) -> None:
    told = " ".join(alice("tools", "update_card")[1].split())
    assert "--annual-fee NUMBER" in told
    assert "--bonus-status pending|earned|missed" in told
    made = alice("call", "add_card", "--card", "House card", "--custom", "--annual-fee", "95.5", "--json")[1]
    card = ("--card-id", str(json.loads(made)["card"]["card_id"]), "--json")
    for emptied in (("--annual-fee", ""), ("--clear", "annual_fee")):
        alice("call", "update_card", "--annual-fee", "95.5", *card)
        assert json.loads(alice("call", "update_card", *emptied, *card)[1])["card"]["annual_fee"] is None
    status, _, fault = alice("call", "update_card", "--card-id", "")
    assert (status, "card_id" in fault) == (2, True)  # the service says what may not be empty


def test_tools_are_listed_searched_and_explained(alice: Say) -> None:
    assert len(alice("tools")[1].splitlines()) == len(TOOLS)
    found = alice("tools", "route monitor")[1]
    assert "create_route_monitor" in found
    assert "add_card" not in found
    explained = alice("tools", "create_trip")[1]
    assert "--start-date" in explained
    assert TOOLS["create_trip"].description.split()[0] in explained
    assert alice("tools", "zeppelin")[0] == 3


def test_a_call_prints_its_message_a_table_and_what_is_left(alice: Say) -> None:
    alice("call", "create_trip", "--name", "Japan", "--start-date", "2099-04-01", "--end-date", "2099-04-09")
    status, said, left = alice("call", "list_trips")
    lines = said.splitlines()
    assert status == 0
    assert lines[0].startswith("SANDBOX")
    heading = next(line for line in lines if "trip id" in line)
    assert "Japan" in lines[lines.index(heading) + 1]
    assert left == "148 of 150 API calls are left this month.\n"


def test_json_is_the_services_own_answer(alice: Say, world: World, people: People) -> None:
    for words in (("call", "--json", "list_trips"), ("call", "list_trips", "--json")):
        status, said, fault = alice(*words)
        assert (status, fault) == (0, "")
        assert json.loads(said) == world.call(world.key(people.alice), "list_trips").json()


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (("no_such_tool",), 2, "no tool of this name"),
        (("list_trip",), 2, "Nearest: list_trips"),
        (("create_trip",), 2, "--name"),
        (("create_trip", "--nam", "x"), 2, "required"),
        (("create_trip", "--name", "x", "--colour", "red"), 2, "--colour"),
        (("create_trip", "--name", "x", "--start-date", "2099-02-30"), 2, "start_date"),
        (("delete_trip", "--trip-id", "one"), 2, "a whole number"),
        (("delete_trip", "--trip-id", "1", "--permanently", "perhaps"), 2, "neither true nor false"),
        (("create_trip", "--name", "@/no/such/file"), 2, "cannot be read"),
        (("delete_trip", "--trip-id", "99"), 3, "No trip 99"),
        (("admin_list_users",), 3, "administrators only"),
    ],
)
def test_the_exit_status_tells_bad_use_from_a_refusal(
    alice: Say, words: tuple[str, ...], status: int, told: str
) -> None:
    ended, _, fault = alice("call", *words)
    assert (ended, told in fault) == (status, True), fault


def test_a_refusal_as_json_is_the_problem_document(alice: Say) -> None:
    status, said, _ = alice("call", "delete_trip", "--trip-id", "99", "--json")
    assert (status, json.loads(said)["outcome"]) == (3, "not_found")


def test_a_paywall_says_where_to_upgrade(say: Say, world: World, people: People) -> None:
    say("login", "--url", world.url, "--key", world.key(people.bob))
    say("call", "create_trip", "--name", "First")
    status, _, fault = say("call", "create_trip", "--name", "Second")
    assert (status, f"See {world.url}/plans" in fault) == (3, True)


def test_a_service_that_is_gone_is_unreachable(alice: Say, tmp_path: Path) -> None:
    kept = tmp_path / "award-travel" / "login.json"
    kept.write_text(json.dumps({"url": "http://127.0.0.1:9", "key": "x"}), encoding="utf-8")
    assert alice("call", "list_trips")[0] == alice("tools")[0] == 4


def test_texts_come_from_files_and_stdin(alice: Say, tmp_path: Path) -> None:
    (tmp_path / "name.txt").write_text("From a file – été", encoding="utf-8")
    alice("call", "create_trip", "--name", f"@{tmp_path / 'name.txt'}")
    alice("call", "create_trip", "--name", "@-", given="From stdin")
    alice("call", "create_trip", "--name", "@@home")
    names = {trip["name"] for trip in json.loads(alice("call", "list_trips", "--json")[1])["trips"]}
    assert names == {"From a file – été", "From stdin", "@home"}


def tool(**properties: Any) -> dict[str, Any]:
    return {"name": "t", "description": "100% made up.", "arguments": {"properties": properties}}


@pytest.mark.parametrize(
    ("node", "words", "value"),
    [
        ({"type": "integer"}, ["7"], 7),
        ({"type": "number"}, ["7.5"], 7.5),
        ({"type": "number"}, ["-7"], -7),
        ({"type": ["integer", "string"]}, ["60000"], 60000),
        ({"type": ["integer", "string"]}, [""], ""),
        ({"type": ["number", "string"]}, ["95.5"], 95.5),
        ({"type": "string"}, ["7"], "7"),
        ({"type": "boolean"}, [], True),
        ({"type": "boolean"}, ["no"], False),
        ({"type": "array", "items": {"type": "string"}}, ["BA", "QR"], ["BA", "QR"]),
        ({"type": "array", "items": {"type": "integer"}}, ["1", "2"], [1, 2]),
        ({"type": "array", "items": {"type": "string"}}, [], []),
        ({"type": "array", "items": {"type": "object"}}, ['{"a": 1}'], [{"a": 1}]),
        ({"type": "object"}, ['{"a": [1, null]}'], {"a": [1, None]}),
    ],
)
def test_words_become_what_the_schema_wants(node: dict[str, Any], words: list[str], value: Any) -> None:
    read = vars(build_tool_parser(tool(some_thing=node)).parse_args(["--some-thing", *words]))
    assert read == {"some_thing": value}
    assert type(read["some_thing"]) is type(value)
    assert vars(build_tool_parser(tool(some_thing=node)).parse_args([])) == {}


def test_every_tools_example_can_be_given_on_the_command_line() -> None:
    for name, made in TOOLS.items():
        arguments = example_arguments(made)
        words: list[str] = []
        for key, value in arguments.items():
            several = value if isinstance(value, list) else [value]
            words += [f"--{key.replace('_', '-')}", *(v if isinstance(v, str) else json.dumps(v) for v in several)]
        shown = {"name": name, "description": made.description, "arguments": made.arguments.schema}
        assert vars(build_tool_parser(shown).parse_args(words)) == arguments, name
        assert "json" not in made.arguments.schema["properties"]


def render(answer: dict[str, Any], columns: int = 120) -> str:
    """What is seen on a screen of so many columns."""
    with io.StringIO() as screen:
        tables.print_answer(Console(file=screen, width=columns, markup=False, emoji=False, highlight=False), answer)
        return screen.getvalue()


def test_nothing_in_an_answer_steers_the_terminal() -> None:
    said = render({"status": "ok", "message": "a\x1b[2Jb", "x\x07y": "c\u202ed", "rows": [{"k\x9b": "v\r"}]})
    assert all(c.isprintable() or c == "\n" for c in said)
    assert "[2J" in said


OFFERS = [
    {"airline": "BA", "points": 14300, "room": "A quiet room with a view of the garden and the sea"},
    {"airline": "QR", "points": 9750, "room": "A room"},
]


def test_a_table_wraps_at_the_width_without_cutting_words_and_numbers_end_in_one_column() -> None:
    lines = render({"message": "Two.", "offers": OFFERS}, 40).splitlines()
    assert lines[1:] == [
        "",
        "offers",
        "  airline  points  room",
        "  BA       14,300  A quiet room with a",
        "                   view of the garden",
        "                   and the sea",
        "  QR         9750  A room",
    ]


def test_a_table_that_does_not_fit_becomes_blocks() -> None:
    lines = render({"message": "Two.", "offers": OFFERS}, 20).splitlines()
    assert lines[3:6] == ["  airline  BA", "  points   14,300", "  room     A quiet"]
    assert max(map(len, lines)) <= 20


def test_names_stand_in_the_place_of_ids() -> None:
    rows = [
        {"program": "flying-blue", "name": "Flying Blue", "alliance": "sky_team"},
        {"program": "ba-club", "name": "The Club", "alliance": "one_world"},
    ]
    steps = [{"from_program": "flying-blue", "to_program": "a-b", "card": "x-1", "card_name": "Card X"}]
    text = render({"message": "m", "names": {"a-b": "A and B"}, "rows": rows, "steps": steps})
    assert "  program      alliance\n  Flying Blue  sky team\n  The Club     one world\n" in text
    assert "  from program  to program  card\n  Flying Blue   A and B     Card X\n" in text


def test_how_a_fact_is_known_is_left_to_json_and_the_terminal_says_so() -> None:
    answer = {"message": "m", "points": 5, "source_url": "https://a.example", "confidence": None}
    assert render(answer) == "m\npoints  5\n"
    with io.StringIO() as screen:
        tables.print_answer(Console(file=screen, width=80, force_terminal=True, no_color=True), answer)
        assert "Not shown: source url; --json prints all." in screen.getvalue()


Offers = Callable[[str], list[str]]


@pytest.fixture
def offers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Offers:
    """What a shell is told when the key is pressed at the end of a line."""

    def ask(line: str) -> list[str]:
        asked = {"COMP_LINE": f"award-travel {line}", "COMP_POINT": str(len(f"award-travel {line}"))}
        # It reads the options of the shell's script, and would take descriptors 8 and 9 from what runs the tests.
        asked |= {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n"}
        with monkeypatch.context() as patch, (tmp_path / "offered").open("w+", encoding="utf-8") as answer:
            patch.setattr(CompletionFinder, "_init_debug_stream", lambda _: None)
            patch.setattr(argcomplete.finders.os, "fdopen", lambda *_: answer)
            for name, value in asked.items():
                patch.setenv(name, value)
            with pytest.raises(SystemExit, match="0"):
                main([])
            answer.seek(0)
            return answer.read().split()

    return ask


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("cal", ["call"]),
        ("call create_t", ["create_trip"]),
        ("call create_trip --st", ["--start-date"]),
        ("call create_trip --name x --na", []),
        ("call search_availability --cabin b", ["business"]),
        ("call delete_trip --permanently ", ["false", "true"]),
        ("tools list_tr", ["list_transfer_partners", "list_trips"]),
        ("completion z", ["zsh"]),
        ("login --u", ["--url"]),
        ("user plan a@b.test pre", ["premium"]),
        ("nonsense x", []),
    ],
)
@pytest.mark.usefixtures("alice")
def test_completion_offers_what_may_come_next(offers: Offers, line: str, offered: list[str]) -> None:
    assert offers(line) == offered


@pytest.mark.usefixtures("say")
def test_completion_before_login_knows_the_commands(offers: Offers) -> None:
    assert {"up", "login", "call"} <= set(offers(""))
    assert offers("call ") == []


def test_bash_completes_with_the_printed_script(alice: Say, tmp_path: Path) -> None:
    bash = shutil.which("bash")
    assert bash
    program = tmp_path / "bin" / "award-travel"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m deploy.cli "$@"\n', encoding="utf-8")
    program.chmod(0o700)
    line = "award-travel call create_"
    call = (
        f'{alice("completion", "bash")[1]}\nPATH="{program.parent}:$PATH"; COMP_LINE="{line}"; COMP_POINT={len(line)}\n'
    )
    call += '_python_argcomplete award-travel; echo "${COMPREPLY[@]}"'
    done = subprocess.run([bash, "-c", call], capture_output=True, text=True, timeout=90, cwd=ROOT, check=False)
    assert done.stdout.split() == sorted(name for name in TOOLS if name.startswith("create_"))
    assert "compdef" in alice("completion", "zsh")[1]
    assert "complete --command award-travel" in alice("completion", "fish")[1]


def test_output_cut_short_by_its_reader_is_no_fault(alice: Say) -> None:
    line = f'set -o pipefail; "{sys.executable}" -m deploy.cli tools | head -n 1'
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=90, cwd=ROOT, check=False)
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (0, "", 1)


def test_what_all_rows_share_is_said_once() -> None:
    rows = [{"airline": "BA", "points": points} for points in (14300, 9750)]
    lines = render({"message": "Two.", "rows": rows}).splitlines()
    assert lines[2:] == ["rows", "  all with airline BA", "  points", "  14,300", "    9750"]


def test_rows_within_rows_are_shown_where_they_are_few_and_counted_where_they_are_many() -> None:
    rows = [{"points": points, "steps": [{"to": "A"}], "notes": ["One.", "Two."]} for points in range(6)]
    assert "    to\n    A\n" in render({"message": "Five.", "rows": [row | {"hops": 1} for row in rows[:5]]})
    assert "\n       5  1 row\n" in render({"message": "Six.", "rows": rows})
    assert "all with notes One. Two.\n" in render({"message": "Six.", "rows": rows})


def test_an_account_with_a_second_step_is_told_what_to_do_instead() -> None:
    page = httpx.Response(200, text="<form>", request=httpx.Request("GET", "http://travel.example/signin/second"))
    with httpx.Client() as browser, pytest.raises(CommandError, match="has a second step"):
        _open_next_page(browser, page, "ann@example.test", "")


def test_a_sheet_is_printed_and_the_rows_of_a_file_are_added_after_a_look(alice: Say, tmp_path: Path) -> None:
    table = tmp_path / "balances.csv"
    table.write_text("program,balance\nAeroplan,42.318\nNo such one,5\n", encoding="utf-8")
    status, said, _ = alice("sheet", "balances", "--add", str(table))
    assert status == 2
    assert "1 row to add, 0 already saved, 1 refused." in said
    assert alice("sheet", "balances", "--add", str(table), "--yes")[1].endswith("1 row saved, 0 not.\n")
    lines = alice("sheet", "balances")[1].splitlines()
    assert lines[0].startswith("program,member,balance")
    assert [line.split(",")[:3] for line in lines[1:]] == [["air-canada-aeroplan", "", "42318"]]
    assert alice("sheet", "trips", "--add", str(table))[0] == 2
