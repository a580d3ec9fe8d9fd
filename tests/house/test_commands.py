"""The commands people paste: documents, the continuous check and the package agree on them."""

import os
import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest

from deploy.cli import build_parser
from tests.support.documents import OWN_MACHINE, ROOT, TESTS_OF_THEIR_OWN, Block, list_blocks

CI = ROOT / ".ci" / "run"
BLOCKS = list(list_blocks())
LANGUAGES = {"", "sh", "json", "yaml", "ini", "toml", "sql", "python", "nginx", "text"}
_OURS = re.compile(r"(?:^|[;|&(]\s*|\s)(?:[\w./-]*/)?award-travel (?P<words>[^|&;()<>\n]*)", re.M)
_CHOICE = re.compile(r"\b(EMAIL|ID|FILE|DIR|DAYS)\b")


def _commands() -> list[str]:
    """The blocks of README, in order."""
    return [block.text.strip() for block in BLOCKS if block.document == "README.md"]


def _list_calls() -> list[str]:
    """The words behind each `award-travel` of a block."""
    blocks = (block for block in BLOCKS if block.language == "sh")
    return [call["words"] for block in blocks for call in _OURS.finditer(block.text.replace("\\\n", " "))]


def test_every_block_of_commands_is_run_by_a_test_or_marked_as_of_the_readers_own_machine() -> None:
    """`tests/deploy/test_documented_commands.py` runs those without the mark; no other language hides commands."""
    assert {block.language for block in BLOCKS} <= LANGUAGES
    assert {block.words for block in BLOCKS if block.language == "sh"} <= {"", OWN_MACHINE}
    assert [
        page
        for page, test in TESTS_OF_THEIR_OWN.items()
        if page.rpartition("/")[2] not in (ROOT / test).read_text(encoding="utf-8")
    ] == []
    assert [block.document for block in BLOCKS if block.language in ("", "text") and _OURS.search(block.text)] == []
    assert any(block.runs for block in BLOCKS)
    assert not Block("", "sh", OWN_MACHINE, "").runs


def test_every_call_of_the_command_is_one_it_takes() -> None:
    parser, refused = build_parser(), []
    for words in sorted(set(_list_calls())):
        arguments = shlex.split(_CHOICE.sub("1", words), comments=True)
        try:
            taken = parser.parse_args(arguments).command == arguments[0]
        except SystemExit as end:
            taken = end.code == 0  # --version
        refused += [words] * (not taken)
    assert refused == []


def test_the_first_two_commands_install_with_the_constraints_and_then_start_and_test() -> None:
    start, test = _commands()[:2]
    install = "python3 -m venv .venv && .venv/bin/pip install -q -c deploy/constraints.txt -e '.[{}]' && "
    assert start == install.format("embedded") + ".venv/bin/award-travel up"
    assert test == install.format("embedded,test") + ".venv/bin/pytest"
    assert next(block.text.strip() for block in BLOCKS if block.document == "deploy/docs/start.md") == start


def test_the_continuous_check_runs_readmes_test_command_to_the_letter() -> None:
    lines = CI.read_text(encoding="utf-8").splitlines()
    assert _commands()[1] in lines
    assert os.access(CI, os.X_OK)
    assert os.access(ROOT / "deploy" / "check", os.X_OK)


PROGRAMS = ("bin/python3", "bin/chromium", "bin/chromium-headless-shell")
STEPS = [".venv/bin/pip", ".venv/bin/pytest", "start_on_oldest_python", ".venv/bin/pytest -m performance -n 0", "check"]


@pytest.mark.parametrize("failing", [None, *STEPS])
def test_the_continuous_check_ends_with_the_first_step_that_fails(failing: str | None, tmp_path: Path) -> None:
    """Each program it starts is one that writes its name down, and fails where that is the chosen one."""
    for name in ("html-validate", "@modelcontextprotocol/ext-apps"):
        (tmp_path / "tests/node/node_modules" / name).mkdir(parents=True)
    step = tmp_path / "step"
    step.write_text(
        """#!/usr/bin/env bash
        name=${0##*/}; [[ $0 != .venv/* ]] || name=$0; [[ $* != *performance* ]] || name="$name $*"
        echo "$name" >>done; [ "$name" != "$FAILING" ] || exit 5
        """,
        encoding="utf-8",
    )
    step.chmod(0o755)
    for name in (".ci/start_on_oldest_python", "deploy/check", *PROGRAMS, *STEPS[:2]):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).symlink_to(step)
    (tmp_path / ".ci" / "run").write_bytes(CI.read_bytes())
    variables = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "FAILING": failing or ""}
    done = subprocess.run(["bash", tmp_path / ".ci" / "run"], env=variables, capture_output=True, check=False)
    steps = (tmp_path / "done").read_text(encoding="utf-8").splitlines()
    assert steps == ["python3", *STEPS[: STEPS.index(failing) + 1 if failing else None]]
    assert done.returncode == (5 if failing else 0)


def test_constraints_are_exact_versions_and_nothing_else() -> None:
    lines = (ROOT / "deploy" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+]+", line)] == []
    assert lines == sorted(lines, key=str.lower)


def test_every_direct_dependency_has_a_lower_bound_and_an_exact_version_that_meets_it() -> None:
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [lines for name, lines in about["optional-dependencies"].items() if name != "pinned"]  # those are exact
    wanted = about["dependencies"] + [line for lines in extras for line in lines]
    lines = (ROOT / "deploy" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    exact = {line.split("==")[0].lower().replace("_", "-") for line in lines}
    unbound = [line for line in wanted if ">=" not in line]
    names = [re.split(r"[\[>=<; ]", line)[0].lower() for line in wanted]
    assert unbound == []
    assert [name for name in names if name not in exact] == []


def test_the_command_is_installed_under_its_name() -> None:
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert about["project"]["scripts"] == {"award-travel": "deploy.cli:main"}
    assert about["dependency-groups"]["dev"] == ["award-travel[embedded,test]"]


def test_no_command_hands_the_password_of_redis_over_where_every_local_user_reads_it() -> None:
    """The words of a command stand in the list of processes; its environment does not (proc(5))."""
    folders = ("jobs", "deploy", "shared", "mcp_server", "auth_server")
    files = [ROOT / "README.md", *(file for name in folders for file in (ROOT / name).rglob("*") if file.is_file())]
    lines = b"\n".join(file.read_bytes() for file in files if file.suffix != ".pyc").splitlines()
    commands = [line for line in lines if b"rq worker" in line]
    assert commands != []
    assert [line for line in commands if re.search(rb"rq worker\b[^`]* (-u|--url)\b", line)] == []
