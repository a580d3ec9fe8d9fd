"""The software bill of materials: valid, complete, with licences, and without a trace of the machine it is made on."""

import json
import re
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from deploy.releases import bill_of_materials
from deploy.releases.bill_of_materials import build_bill

ROOT = Path(__file__).parents[2]


def write(file: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(sys, "argv", ["bill_of_materials", str(file)])
    bill_of_materials.main()
    return file.read_text(encoding="utf-8")


def test_it_is_valid_and_the_same_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = write(tmp_path / "new" / "sbom.cdx.json", monkeypatch)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    assert write(tmp_path / "again.json", monkeypatch) == text


def test_it_names_what_the_constraints_install_with_its_version() -> None:
    lines = (ROOT / "deploy" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    listed = {row["purl"] for row in build_bill()["components"]}
    for name in ("pillow", "cryptography", "mcp", "pytest"):
        assert any(line.lower().startswith(f"{name}==") for line in lines)
        assert f"pkg:pypi/{name}@{version(name)}" in listed
    assert build_bill()["metadata"]["component"]["name"] == "award-travel"


def test_every_package_has_a_licence() -> None:
    rows = build_bill()["components"]
    named = {
        row["name"]: [name.get("expression") or name["license"]["name"] for name in row["licenses"]] for row in rows
    }
    assert [name for name, licences in named.items() if not all(licences) or "not stated" in licences] == []
    assert named["CurrencyConverter"] == ["Apache License"]


def test_it_holds_no_path_and_no_address() -> None:
    text = json.dumps(build_bill() | {"$schema": ""})
    assert re.findall(r"\w+://[^\"]*", text) == []
    assert str(Path.home()) not in text
    assert str(ROOT) not in text
