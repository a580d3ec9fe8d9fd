"""The walls between the rooms: the import contracts of pyproject.toml hold, and each room has its door plate."""

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINTER = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True, verbose=False))"


def test_every_import_contract_is_kept() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LINTER], cwd=ROOT, capture_output=True, encoding="utf-8", timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_room_says_at_its_door_what_it_is_for() -> None:
    doors = [
        p
        for room in ("mcp_server", "auth_server", "shared", "jobs", "deploy")
        for p in ROOT.glob(f"{room}/**/__init__.py")
    ]
    silent = [
        str(p.relative_to(ROOT)) for p in doors if not ast.get_docstring(ast.parse(p.read_text(encoding="utf-8")))
    ]
    assert len(doors) > 10
    assert silent == []
