"""A new kind of watch takes the files that the guide for contributors lists, and no others."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from shared.db.schema import list_steps
from tests.house.source import ROOMS, ROOT

KIND = Path(__file__).parent / "new_watch"
MOST = 12
TOOLS = "create_rain_alert delete_rain_alert list_rain_alerts update_rain_alert"
# What the kind adds to files that are there: where, and what stands before it.
ADDED = {
    "shared/domain/watch_kinds.py": {
        "WATCH_KINDS = (": """RAIN_ALERT = WatchKind(
    name="rain_alert",
    files="rain_alerts",
    table="rain_alerts",
    run="rain_alert",
    caps=Caps(free=1, premium=5, pro=10, enterprise=20),
    path="/dashboard/watches/rain",
    events=("rain_alert",),
    number="alert_id",
    wording="rain_alerts",
    mails="rain_alerts",
    mail_words=("Rain alerts", "when it rains at an airport you watch"),
    label="Rain",
    pause_words="Pause this alert",
    counted_as="alerts",
)
WATCH_KINDS = (RAIN_ALERT, """,
    },
    "mcp_server/views/profile.py": {"class Mails(Part):\n": "class Mails(Part):\n    rain_alerts: bool\n"},
    "shared/domain/tool_profiles.py": {
        '"alerts": 13': '"alerts": 17',
        '_OPERATOR = """\n': f'_OPERATOR = """\n{TOOLS}\n',
    },
}
NEW = sorted(
    path.relative_to(KIND).as_posix() for path in KIND.rglob("*.*") if path.parent != KIND and path.suffix != ".pyc"
)


@pytest.fixture
def product(tmp_path: Path) -> Path:
    """The product with the kind: links to its files, the files of the kind, and the changed ones."""
    leave_out = shutil.ignore_patterns("__pycache__")
    for room in ROOMS:
        shutil.copytree(ROOT / room, tmp_path / room, copy_function=os.symlink, ignore=leave_out)
    for name in NEW:
        text = (KIND / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text.replace('"HEAD"', f'"{list_steps()[-1].revision}"'), encoding="utf-8")
    for name, changes in ADDED.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        for before, after in changes.items():
            assert text.count(before) == 1
            text = text.replace(before, after)
        (tmp_path / name).unlink()
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.slow  # a process loads all programs
def test_a_dozen_files_make_a_kind_that_is_checked_told_paused_listed_and_limited(
    product: Path, fresh_database: str
) -> None:
    assert len(NEW) + len(ADDED) <= MOST
    environment = os.environ | {"PYTHONPATH": f"{product}{os.pathsep}{ROOT}", "DATABASE_URL": fresh_database}
    command = [sys.executable, str(KIND / "walk.py")]
    done = subprocess.run(
        command, env=environment, cwd=product, capture_output=True, encoding="utf-8", timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "made": ["ok", "limit_reached", 1],
        "told": ["rain_alert", "JFK: rain", "It rains at JFK.", "rain_alert"],
        "mail": ["JFK: rain", "owner@example.test", True, True],
        "unsubscribe": ["acc_owner", "rain_alerts"],
        "pause": [[False, False], [True, True], True],
        "runs": ["done"],
        "plan": [True, False],
        "records": "2 rain alerts",
        "left": 0,
        "listed": [
            "/dashboard/watches/rain/1",
            True,
            "Rain",
            "Rain alerts",
            True,
            True,
            ["1", "5", "10", "20"],
            True,
            True,
            True,
            True,
        ],
    }


def test_the_guide_lists_the_files_of_a_kind_and_no_others() -> None:
    guide = (ROOT / "deploy/docs/contribute.md").read_text(encoding="utf-8")
    part = guide.partition("**Add a kind of watch**")[2].partition("\n**Add")[0]
    listed = set(re.findall(r"`((?:shared|jobs|mcp_server|auth_server)/[^`]+)`", part))
    used = {re.sub(r"9999_rain_alerts|rain_alerts", "<kind>", name) for name in [*NEW, *ADDED]}
    assert listed == {name.replace("rain_alert.", "<event>.") for name in used}
