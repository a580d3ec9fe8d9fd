"""The wheel and the sdist: they carry every file, and the service starts from them in an empty folder."""

import json
import re
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from deploy.cli import KINDS, list_files
from tests.deploy.test_terminal import COLOUR, find_long_lines, run_on_terminal
from tests.support.service import ROOT, environment, folder_for_homes
from tests.support.wheel import PACKAGES, build, copy_tree, install

pytestmark = [pytest.mark.e2e, pytest.mark.slow]  # builds packages and starts the service from them


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_tree(tmp_path_factory.mktemp("packages"))


@pytest.fixture(scope="module")
def wheel(tree: Path) -> Path:
    return build("wheel", tree, tree.parent / "dist")


@pytest.fixture(scope="module")
def programs(wheel: Path) -> Path:
    return install(wheel, wheel.parents[1] / "venv")


def _list_files_of_git() -> set[str]:
    done = subprocess.run(["git", "ls-files", *PACKAGES], cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    return set(done.stdout.split())


def test_the_wheel_carries_every_file_of_the_packages(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert "shared/reference/data/programs.csv" in names
    assert _list_files_of_git() - names == set()


def test_the_sdist_builds_the_same_wheel(tree: Path, wheel: Path, tmp_path: Path) -> None:
    sdist = build("sdist", tree, tmp_path / "dist")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    again = build("wheel", tmp_path / sdist.name.removesuffix(".tar.gz"), tmp_path / "again")
    contents = [
        {item.filename: item.CRC for item in zipfile.ZipFile(file).infolist() if not item.filename.endswith("RECORD")}
        for file in (again, wheel)
    ]
    assert contents[0] == contents[1]


def _run(programs: Path, folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [programs / "award-travel", *words],
        cwd=folder,
        env=environment(folder, more),
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def test_the_programs_are_those_of_the_wheel(programs: Path, tmp_path: Path) -> None:
    code = "import shared, deploy.cli; print(shared.__file__, deploy.cli.__file__)"
    done = subprocess.run([programs / "python", "-c", code], cwd=tmp_path, capture_output=True, encoding="utf-8")
    assert done.stdout.count(str(programs.parent)) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_an_installed_package_prints_its_files(programs: Path, tmp_path: Path, kind: str) -> None:
    done = _run(programs, tmp_path, "example", kind)
    texts = [file.read_text(encoding="utf-8").strip() for file in list_files(kind)]
    assert texts
    assert [text for text in texts if text not in done.stdout] == []


def test_a_foreign_package_in_front_is_named(programs: Path, tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "__init__.py").write_text("", encoding="utf-8")
    done = _run(programs, tmp_path, "doctor", PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith(f"award-travel: The name `shared` leads to {tmp_path}/shared/__init__.py, and not to")


def test_a_package_that_was_installed_over_ours_is_named(programs: Path, tmp_path: Path) -> None:
    site = next(programs.parent.glob("lib/*/site-packages"))
    ours = site / "jobs" / "__init__.py"
    text = ours.read_bytes()
    try:
        ours.write_text("", encoding="utf-8")
        done = _run(programs, tmp_path, "doctor")
    finally:
        ours.write_bytes(text)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert f"Another package was installed over `jobs` in {site}." in done.stderr


@dataclass
class Start:
    """What `up` said on a terminal, the answer of a tool in the meantime, and the password of the demo account."""

    status: int
    text: str
    answer: dict[str, Any]
    password: str


@pytest.fixture(scope="module")
def start(programs: Path) -> Iterator[Start]:
    """The service of the wheel, started in an empty folder and on a terminal, and ended by Ctrl-C."""
    answers: list[httpx.Response] = []
    own = {"DATABASE_URL": "", "REDIS_URL": "", "SECRET_KEYS": "", "SERVICE_CLIENT_SECRET": ""}
    own |= {"SERVICE_NAME": "Miles [and] More"}
    with folder_for_homes() as folder:
        home, ready = ["--home", str(folder / "home")], folder / "ready.json"

        def call() -> None:
            token = _run(programs, folder, "token", *home).stdout.strip()
            params = {"name": "list_my_cards", "arguments": {}}
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            url = json.loads(ready.read_text(encoding="utf-8"))["mcp_url"]
            answers.append(httpx.post(url, json=body, headers={"Authorization": f"Bearer {token}"}, timeout=90))

        status, text = run_on_terminal(
            *("up", *home, "--web-port", "0", "--mcp-port", "0", "--ready-file", str(ready)),
            program=[programs / "award-travel"],
            folder=folder,
            end_after="Ctrl-C stops everything; nothing is lost.\r\n",
            meanwhile=call,
            HOME=str(folder),
            **own,
        )
        password = (folder / "home" / "demo-password").read_text(encoding="utf-8").strip()
        text = text.replace(f"{programs}/", "")  # where this run keeps the wheel says nothing about how wide a line is
        yield Start(status, text, answers[0].json(), password)


def test_the_service_starts_from_the_wheel_in_an_empty_folder(start: Start) -> None:
    assert start.status == 0, start.text
    assert start.answer["result"]["structuredContent"]["status"] == "ok"


def test_up_ends_with_one_screen_and_the_next_step(start: Start) -> None:
    text = start.text
    assert text.startswith("Miles [and] More is starting")
    screen = COLOUR.sub("", text[text.index("Miles [and] More is running.") :].partition("Ctrl-C")[0])
    assert find_long_lines(screen) == []
    assert screen.count("\n") <= 22
    url = re.search(r"Next: open (http://127.0.0.1:[0-9]+) and sign in as demo@example.com\n", screen)
    assert url, screen
    assert f"with the password {start.password}" in screen
    assert f"claude mcp add --transport http award-travel {url[1]}/mcp\n" in screen
    assert f'{{"mcpServers": {{"award-travel": {{"url": "{url[1]}/mcp"}}}}}}\n' in screen
    assert "[2mFolder" in text
