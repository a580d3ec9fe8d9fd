"""Checks at the start that the packages imported by this program's names are its own."""

import base64
import csv
import hashlib
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

from deploy.errors import CommandError

PACKAGES = ("auth_server", "deploy", "jobs", "mcp_server", "shared")  # general names: others use them too
HOME = Path(__file__).resolve().parents[1]
MEND = "Install award-travel into its own environment, and take other folders out of PYTHONPATH."


def check_packages() -> None:
    """Raises CommandError when another package of such a name comes before ours, or was installed over it."""
    for name in PACKAGES:
        spec = find_spec(name)
        place = Path(spec.origin).resolve() if spec and spec.origin else None
        if place != HOME / name / "__init__.py":
            where = place or "no package of this program at all"
            raise CommandError(f"The name `{name}` leads to {where}, and not to {HOME / name}. {MEND}")
    if changed := _find_overwritten_packages():
        raise CommandError(f"Another package was installed over `{'`, `'.join(changed)}` in {HOME}. {MEND}")


def _find_overwritten_packages() -> list[str]:
    """Finds those whose first file is not the installed one; an editable installation cannot be checked."""
    try:
        record = distribution("award-travel").read_text("RECORD") or ""
    except PackageNotFoundError:  # run from a checkout that is not installed
        return []
    digests = {row[0]: row[1] for row in csv.reader(record.splitlines()) if len(row) > 1}
    files = {name: digests.get(f"{name}/__init__.py", "") for name in PACKAGES}
    return [name for name, digest in files.items() if digest and digest != _digest(HOME / name / "__init__.py")]


def _digest(file: Path) -> str:
    """The digest as RECORD writes it (PEP 427): base64 for addresses, without padding."""
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(file.read_bytes()).digest()).rstrip(b"=").decode()
