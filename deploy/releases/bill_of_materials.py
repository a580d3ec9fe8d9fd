"""`python -m deploy.releases.bill_of_materials FILE`: the installed packages with their licences, as CycloneDX JSON."""

import json
import re
import sys
from importlib.metadata import Distribution, distribution, distributions
from pathlib import Path
from typing import Any

OURS = "award-travel"
_MAX_NAME_CHARACTERS = 100  # some packages put the whole text where its name belongs


def build_bill() -> dict[str, Any]:
    """Builds it reproducibly: without time, serial number or paths of this machine."""
    packages = {_normalize(package.name): package for package in distributions() if package.name}
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": _describe(distribution(OURS), "application")},
        "components": [_describe(package, "library") for name, package in sorted(packages.items()) if name != OURS],
    }


def _normalize(name: str) -> str:
    """The name as package URLs and indexes write it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _describe(package: Distribution, kind: str) -> dict[str, Any]:
    url = f"pkg:pypi/{_normalize(package.name)}@{package.version}"
    row = {"type": kind, "bom-ref": url, "name": package.name, "version": package.version, "purl": url}
    return row | {"licenses": _list_licenses(package)}


def _list_licenses(package: Distribution) -> list[dict[str, Any]]:
    """The expression (PEP 639), else what its metadata states, else the start of its licence."""
    if expressions := package.metadata.get_all("License-Expression"):
        return [{"expression": expressions[0]}]
    stated = "".join(package.metadata.get_all("License") or [])
    if 0 < len(stated) <= _MAX_NAME_CHARACTERS and "\n" not in stated:
        return [{"license": {"name": stated}}]
    classifiers = package.metadata.get_all("Classifier") or []
    names = [c.rpartition(" :: ")[2] for c in classifiers if c.startswith("License :: ")]
    return [{"license": {"name": name}} for name in names or [_read_license_title(package)]]


def _read_license_title(package: Distribution) -> str:
    texts = (package.read_text(f"licenses/{file}") for file in package.metadata.get_all("License-File") or [])
    lines = (line.strip() for text in texts for line in (text or "").splitlines())
    return next((line[:_MAX_NAME_CHARACTERS] for line in lines if line), "not stated")


def main() -> None:
    file = Path(sys.argv[1])
    file.parent.mkdir(parents=True, exist_ok=True)
    bill = build_bill()
    file.write_text(json.dumps(bill, indent=2) + "\n", encoding="utf-8")
    print(f"{len(bill['components'])} packages are listed in {file}.")


if __name__ == "__main__":
    main()
