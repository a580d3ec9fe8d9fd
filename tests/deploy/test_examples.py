"""`award-travel example`: what it prints is what the package holds, and it never overwrites."""

from pathlib import Path

import pytest

from deploy import cli
from deploy.cli import main


@pytest.mark.parametrize("kind", cli.KINDS)
def test_every_kind_has_files(kind: str) -> None:
    assert cli.list_files(kind)


def test_one_file_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["example", "env"]) == 0
    assert capsys.readouterr().out == (cli.FOLDER / "env.example").read_text(encoding="utf-8")


def test_several_files_are_printed_with_their_names(tmp_path: Path) -> None:
    files = [tmp_path / "a.yaml", tmp_path / "b.yaml"]
    for file in files:
        file.write_text("---\nx: 1\n", encoding="utf-8")
    assert cli.format_files(files) == "# --- a.yaml\n---\nx: 1\n\n# --- b.yaml\n---\nx: 1\n\n"


def test_files_are_written_once_and_never_over_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["example", "caddy", "--output", str(tmp_path / "new")]
    assert main(words) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'new' / 'Caddyfile'}\n"
    (tmp_path / "new" / "Caddyfile").write_text("changed", encoding="utf-8")
    assert main(words) == 1
    assert "already holds Caddyfile" in capsys.readouterr().err
    assert (tmp_path / "new" / "Caddyfile").read_text(encoding="utf-8") == "changed"
