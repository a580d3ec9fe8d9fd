"""`award-travel facts check` and `fact export`: faults with file and line, and corrections as a patch that applies."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from deploy.cli import FACTS, FACTS_PAGE, FINDINGS, main
from deploy.reference.fact_files import build_page
from shared.reference import load
from shared.reference.audit import Kind
from shared.reference.load import FOLDER, read_tables, reference
from shared.reference.override_patch import build_patch
from shared.reference.overrides import Override
from shared.reference.tables import read_raw_rows
from shared.services.operations import facts


@pytest.fixture
def as_before(clean: None) -> Iterator[None]:
    files, version = reference(), facts._loaded_version[0]
    yield
    load.replace(files)
    facts._loaded_version[0] = version


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "shared" / "reference" / "data"))


def test_the_commands_name_what_the_facts_are_called() -> None:
    assert FACTS == FOLDER
    assert set(FINDINGS) == set(Kind.__args__)  # type: ignore[attr-defined]


def test_the_files_are_checked_without_a_database() -> None:
    bare = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    done = subprocess.run(
        [sys.executable, "-m", "deploy.cli", "facts", "check"], capture_output=True, text=True, check=False, env=bare
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("rows, no faults.\n")


def test_all_faults_are_told_at_once_with_file_and_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cards = (folder / "cards.csv").read_text(encoding="utf-8").split("\n")
    row = next(number for number, line in enumerate(cards) if ",1750," in line)
    cards[row] = cards[row].replace(",1750,", ",dear,")
    (folder / "cards.csv").write_text("\n".join(cards), encoding="utf-8")
    (folder / "lounges.csv").write_text("slug,nam\n", encoding="utf-8")
    (folder / "routes.csv").write_bytes(b"carrier,\xff\n")
    (folder / "cradles.csv").write_text("a\n", encoding="utf-8")
    assert main(("facts", "check", str(folder))) == 1
    told = capsys.readouterr()
    assert f"cards.csv:{row + 1}: annual_fee 'dear' is not a number" in told.out
    assert "lounges.csv:1: the header differs from the row type in" in told.out
    assert "routes.csv: is not UTF-8 text" in told.out
    assert "cradles.csv: is no file of facts" in told.out
    assert told.err.startswith("award-travel: 4 faults in ")


def test_a_folder_that_is_none_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("facts", "check", str(tmp_path / "nowhere"))) == 1
    assert "is not a folder" in capsys.readouterr().err


def test_the_page_of_figures_is_that_of_the_files() -> None:
    """`award-travel facts page` writes it again."""
    assert FACTS_PAGE.read_text(encoding="utf-8") == build_page(read_tables(FOLDER))


def override(file: str, removed: bool = False, **cells: str) -> Override:
    """A row of the file with other cells, or a new one."""
    names = facts.list_key_columns(file)
    rows = read_raw_rows(FOLDER, file)
    same = (row for row in rows if all(row[name] == cells.get(name, "") for name in names))
    row = next(same, dict.fromkeys(rows[0], ""))
    return Override(0, file, row | cells, removed, datetime(2026, 11, 22, tzinfo=UTC), "ann", "why")


PAGE = "https://issuer.example/gold"


def list_corrections() -> list[Override]:
    """One row changed with everything CSV quotes, one removed, two added: to a sorted file and to another."""
    gone = read_raw_rows(FOLDER, "lounges.csv")[3]
    fact = {"source_url": PAGE, "as_of": "2026-11-20", "confidence": "medium"}
    text = 'He said "no, thanks",\nand left \u2028 ü'
    return [
        override("cards.csv", slug="us-amex-gold", annual_fee="375", note=text, **fact | {"audited_on": ""}),
        override("lounges.csv", removed=True, **gone),
        override("program_aliases.csv", alias="zz top miles", program="flying-blue", alias_kind="name"),
        override("program_aliases.csv", alias="b side miles", program="flying-blue", alias_kind="name"),
        override("program_facts.csv", program="flying-blue", topic="zebra", answer="Yes.", **fact),
    ]


PATCHERS = [words for words in (("git", "apply"), ("patch", "-p1", "-s", "-i")) if shutil.which(words[0])]


@pytest.mark.slow  # starts programs
@pytest.mark.parametrize("program", PATCHERS, ids=[words[0] for words in PATCHERS])
def test_the_patch_applies_and_the_files_then_say_what_the_corrections_say(
    folder: Path, tmp_path: Path, program: tuple[str, ...]
) -> None:
    corrections = list_corrections()
    patch = build_patch(FOLDER, corrections)
    assert patch.left_out == []
    (tmp_path / "facts.patch").write_bytes(patch.text.encode())
    subprocess.run([*program, "facts.patch"], cwd=tmp_path, check=True, timeout=90)
    assert read_tables(folder) == read_tables(FOLDER, corrections)
    changed = [line for line in patch.text.split("\n") if line[:1] in ("+", "-") and line[:3] not in ("+++", "---")]
    assert len(changed) == 3 + 1 + 2 + 1  # the card's new note has two lines
    assert build_patch(folder, corrections).text == ""


def test_a_correction_that_no_longer_fits_is_left_out_and_told() -> None:
    wrong = override("cards.csv", slug="us-amex-gold", annual_fee="dear")
    strange = Override(0, "gone.csv", {"slug": "x"}, False, datetime(2026, 11, 22, tzinfo=UTC), "ann", "why")
    good = override("program_aliases.csv", alias="zz top miles", program="flying-blue", alias_kind="name")
    patch = build_patch(FOLDER, [wrong, good])
    assert patch.left_out == ["cards.csv us-amex-gold: annual_fee 'dear' is not a number"]
    assert "+zz top miles,flying-blue,name" in patch.text
    assert build_patch(FOLDER, [strange]) == ("", ["gone.csv: there is no such file"])


def test_corrections_in_force_are_exported(as_before: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("fact", "export")) == 0
    assert capsys.readouterr() == ("", "No correction in force differs from the files.\n")
    cells = ("alias=zz top miles", "program=flying-blue", "alias_kind=name")
    assert main(("fact", "set", "program_aliases.csv", *cells, "--reason", "asked for")) == 0
    capsys.readouterr()
    assert main(("fact", "export")) == 0
    told = capsys.readouterr()
    assert told.out.startswith("--- a/shared/reference/data/program_aliases.csv\n+++ b/shared/reference/data/")
    assert "\n+zz top miles,flying-blue,name\n" in told.out


def test_an_item_nobody_has_cannot_be_closed(as_before: None, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("D1", "R7", "X1", "D", "D99999999999999999999"):
        assert main(("fact", "close", name, "--reason", "why")) == 1
        assert f"There is no open item {name}" in capsys.readouterr().err
