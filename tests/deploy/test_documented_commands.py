"""Every block of commands in README and the documentation, run as it stands against a running service."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.documents import ROOT, Block, list_blocks
from tests.support.service import Service, environment

pytestmark = pytest.mark.e2e
RUN = [block for block in list_blocks() if block.runs]
_COMMAND = """#!{python}
import sys
from pathlib import Path
from deploy import cli
cli.default_home = lambda: Path({home!r})
sys.exit(cli.main())
"""


@pytest.fixture
def shell(service: Service, tmp_path: Path) -> dict[str, str]:
    """The environment of someone whose own home the running service is."""
    folder = tmp_path / "bin"
    folder.mkdir()
    programs = {
        "python": f'#!/bin/sh\nexec {sys.executable} "$@"\n',
        "award-travel": _COMMAND.format(python=sys.executable, home=str(service.home)),
    }
    for name, text in programs.items():
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)
    variables = environment(tmp_path)
    return variables | {"PATH": f"{folder}:{variables['PATH']}", "PYTHONPATH": str(ROOT)}


@pytest.mark.skipif(not shutil.which("curl"), reason="some commands are calls of curl")
@pytest.mark.parametrize("block", RUN, ids=lambda block: f"{block.document}: {block.text.split(chr(10))[0][:50]}")
def test_a_documented_command_does_what_it_says(
    block: Block, service: Service, shell: dict[str, str], tmp_path: Path
) -> None:
    script = block.text.replace("http://127.0.0.1:8000", service.web_url)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script.replace(".venv/bin/", "")],
        cwd=tmp_path,
        env=shell,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip()
    assert "/problems/" not in done.stdout  # curl ends well with a problem document too
