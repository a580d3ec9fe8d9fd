"""The files of the folio rules: as they are, and what is said when they are wrong."""

import shutil
from pathlib import Path

import pytest

from shared.domain.folio.audit import CHECKS
from shared.reference.folio import build_rulebook
from shared.reference.load import FOLDER, ReferenceError, read_tables, reference

pytestmark = pytest.mark.usefixtures("reviewed_files_read_once")


def edit_file(folder: Path, name: str, old: str, new: str) -> list[str]:
    broken = folder / "data"
    shutil.copytree(FOLDER, broken)
    path = broken / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ReferenceError) as error:
        read_tables(broken)
    return error.value.faults


def test_the_rules_the_chains_and_the_benefits_are_all_there() -> None:
    files = {n: len(reference().rows(f"folio/{n}.csv")) for n in ("rules", "chains", "benefits", "dispute_refs")}
    assert files == {"rules": 40, "chains": 4, "benefits": 40, "dispute_refs": 8}
    assert {r.check for r in build_rulebook(reference()).rules} == set(CHECKS)
    assert [r.id for r in build_rulebook(reference()).rules if r.severity == "info"] == ["I01", "L06", "M01"]


def test_the_rulebook_is_compiled_once_for_each_load() -> None:
    assert build_rulebook(reference()) is build_rulebook(reference())


@pytest.mark.parametrize(
    ("name", "old", "new", "fault"),
    [
        ("folio/rules.csv", ",charge,", ",gift,", "kind 'gift' is not known"),
        ("folio/rules.csv", ",high,charge,", ",grave,charge,", "severity 'grave' is not known"),
        ("folio/rules.csv", ",twice,", ",thrice,", "check 'thrice' is not known"),
        ("folio/rules.csv", ",globalist,", ",globetrotter,", "tiers 'globetrotter' is not known"),
        ("folio/rules.csv", ",minibar,", ",maxibar,", "line_kinds 'maxibar' is not known"),
        ("folio/rules.csv", ",D-FOLIO,", ",D-NOWHERE,", "dispute_refs 'D-NOWHERE' is not known"),
        ("folio/rules.csv", "diamond_reserve=16:00", "diamond_reserve=four", "until is not tier=HH:MM"),
        ("folio/line_kinds.csv", "mini[ -]?bar", "mini[ -?bar", "words is no pattern"),
        ("folio/benefits.csv", "hyatt,globalist", "hyatt,gold", "'gold' is no tier of hyatt"),
    ],
)
def test_a_fault_is_named_with_its_file_and_line(tmp_path: Path, name: str, old: str, new: str, fault: str) -> None:
    assert any(f.startswith(f"{name}:") and fault in f for f in edit_file(tmp_path, name, old, new))
