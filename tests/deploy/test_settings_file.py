"""deploy/env.example and the settings class say the same."""

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import PydanticUndefined

from shared.settings import Settings

EXAMPLE = (Path(__file__).parents[2] / "deploy" / "env.example").read_text(encoding="utf-8")
LINES = dict(re.findall(r"^(#?[A-Z][A-Z0-9_]+)=(.*)$", EXAMPLE, re.M))


def _default(name: str) -> Any:
    return Settings.model_fields[name].default


def test_every_setting_is_documented_and_every_documented_one_exists() -> None:
    assert sorted(name.lstrip("#").lower() for name in LINES) == sorted(Settings.model_fields)


def test_required_settings_are_written_out() -> None:
    required = [name.upper() for name in Settings.model_fields if _default(name) is PydanticUndefined]
    assert [name for name in required if name not in LINES] == []
    assert "DATABASE_URL" in required


@pytest.mark.parametrize("line", sorted(name for name in LINES if name.startswith("#")))
def test_a_commented_setting_shows_its_true_default(line: str) -> None:
    default = _default(line.lstrip("#").lower())
    assert LINES[line] == ("" if default is None else str(default))
