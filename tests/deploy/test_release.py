"""`deploy/release`: what it refuses, and a dry run in a clone, which builds all files and tags nothing."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from deploy.errors import CommandError
from deploy.releases import release
from shared.settings import VERSION

ROOT = Path(__file__).parents[2]
CHANGELOG = (
    "# Changelog\n\nWords.\n\n## 1.1.0\n\n- New.\n\n### What to do\n\nNothing.\n\n## 1.0.0\n\n## 0.9.0\n\n- Old.\n"
)
Git = Callable[..., str]


def test_this_version_stands_in_the_changelog_with_what_it_brings() -> None:
    assert release.read_version(ROOT) == VERSION
    assert release.read_notes((ROOT / "deploy" / "CHANGELOG.md").read_text(encoding="utf-8"), VERSION).strip()


def test_notes_are_the_section_of_the_version_alone() -> None:
    assert release.read_notes(CHANGELOG, "1.1.0") == "- New.\n\n### What to do\n\nNothing.\n"
    assert release.read_notes(CHANGELOG, "0.9.0") == "- Old.\n"
    for version in ("1.0.0", "1.2.0"):  # nothing in it; not there
        with pytest.raises(CommandError, match=f"says nothing of {re.escape(version)}"):
            release.read_notes(CHANGELOG, version)


def test_two_versions_are_refused(tmp_path: Path) -> None:
    (tmp_path / "shared" / "settings").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('version = "1.1.0"\n', encoding="utf-8")
    (tmp_path / "shared" / "settings" / "__init__.py").write_text('VERSION = "1.0.0"\n', encoding="utf-8")
    with pytest.raises(CommandError, match=r"says 1.1.0, and shared/settings/__init__.py says 1.0.0"):
        release.read_version(tmp_path)


def test_an_image_whose_base_can_be_another_one_tomorrow_is_refused() -> None:
    release.check_base(f"{release.BASE}@sha256:{'0a' * 32}")
    for base in (release.BASE, f"{release.BASE}@sha256:0a", "python", ""):
        with pytest.raises(CommandError, match="has no digest"):
            release.check_base(base)
    assert f"\nARG BASE={release.BASE}\n" in (ROOT / "deploy" / "Containerfile").read_text(encoding="utf-8")


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    """A repository with this tree as its only commit, in which the release is made."""
    files = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True)
    tree = tmp_path / "tree"
    for name in files.stdout.decode().split("\n"):
        if name and not name.startswith("tests/") and (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tree / name)

    def run(*words: str) -> str:
        own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.test"]
        done = subprocess.run(
            ["git", *who, *words], cwd=tree, env=os.environ | own, capture_output=True, encoding="utf-8", check=True
        )
        return done.stdout.strip()

    run("init", "-q")
    run("add", "-A")
    run("commit", "-q", "-m", "all")
    monkeypatch.setattr(release, "ROOT", tree)
    for name in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"):
        monkeypatch.setenv(name, "Ann")
    for name in ("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(name, "ann@example.test")
    return run


def _release(monkeypatch: pytest.MonkeyPatch, *options: str) -> int:
    monkeypatch.setattr(sys, "argv", ["deploy/release", "--without-checks", "--without-image", *options])
    return release.main()


@pytest.mark.slow
def test_a_dry_run_builds_everything_and_tags_nothing_and_the_release_tags(
    git: Git, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _release(monkeypatch, "--dry-run") == 0
    assert f"v{VERSION} is not tagged" in capsys.readouterr().out
    folder = release.ROOT / "build" / "release"
    wheel, sdist = f"award_travel-{VERSION}-py3-none-any.whl", f"award_travel-{VERSION}.tar.gz"
    assert {file.name for file in folder.iterdir()} == {wheel, sdist, "notes.md", "sbom.cdx.json", "SHA256SUMS"}
    assert "deploy/CHANGELOG.md" in zipfile.ZipFile(folder / wheel).namelist()
    with tarfile.open(folder / sdist) as archive:
        assert f"award_travel-{VERSION}/pyproject.toml" in archive.getnames()
    assert json.loads((folder / "sbom.cdx.json").read_bytes())["bomFormat"] == "CycloneDX"
    sums = dict(line.split("  ")[::-1] for line in (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines())
    first = sums[wheel]
    assert sums == {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in (wheel, sdist, "notes.md", "sbom.cdx.json")
    }
    assert git("tag") == ""
    assert _release(monkeypatch) == 0
    assert git("tag") == f"v{VERSION}"
    assert "### For operators" in git("tag", "-l", "--format=%(contents)")
    assert hashlib.sha256((folder / wheel).read_bytes()).hexdigest() == first  # the same commit, the same wheel


def test_what_is_not_committed_and_a_version_with_a_tag_are_refused(
    git: Git, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (release.ROOT / "README.md").write_text("changed", encoding="utf-8")
    assert _release(monkeypatch, "--dry-run") == 1
    assert "not committed" in capsys.readouterr().err
    git("commit", "-qam", "changed")
    git("tag", f"v{VERSION}")
    assert _release(monkeypatch, "--dry-run") == 1
    assert "is tagged already" in capsys.readouterr().err
    assert not (release.ROOT / "build").exists()


def test_the_script_runs_the_module() -> None:
    script = ROOT / "deploy" / "release"
    assert os.access(script, os.X_OK)
    assert "-m deploy.releases.release" in script.read_text(encoding="utf-8")
