"""`deploy/release`: a release from what is committed: checks, packages, image, bill of materials, notes and the tag."""

import argparse
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from deploy.errors import CommandError

ROOT = Path(__file__).parents[2]
NOTES, BILL, SUMS = "notes.md", "sbom.cdx.json", "SHA256SUMS"
IMAGE, BASE = "award-travel", "python:3.13-slim"


def read_version(tree: Path) -> str:
    """The version of the package, which the program must name too. Raises CommandError."""
    package = _find(r'^version = "([^"]+)"$', tree / "pyproject.toml")
    program = _find(r'^VERSION = "([^"]+)"$', tree / "shared" / "settings" / "__init__.py")
    if package != program:
        raise CommandError(
            f"pyproject.toml says {package}, and shared/settings/__init__.py says {program}: write one version."
        )
    return package


def _find(pattern: str, file: Path) -> str:
    match = re.search(pattern, file.read_text(encoding="utf-8"), re.M)
    if match is None:
        raise CommandError(f"{file.name} names no version.")
    return match[1]


def read_notes(changelog: str, version: str) -> str:
    """The section of this version, without its heading. Raises CommandError if it is missing or empty."""
    sections = re.split(r"^## +", changelog, flags=re.M)[1:]
    texts = {heading.strip(): text.strip() for heading, _, text in (s.partition("\n") for s in sections)}
    if not texts.get(version):
        raise CommandError(f"deploy/CHANGELOG.md says nothing of {version}: add a section `## {version}`.")
    return texts[version] + "\n"


def _run_git(*words: str) -> str:
    return _run("git", *words, folder=ROOT).stdout.strip()


def _run(*words: str, folder: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Raises CommandError with the last line that the program printed."""
    done = subprocess.run(
        words, cwd=folder, env=os.environ | environment, capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines() or ["it printed nothing"]
        raise CommandError(f"{' '.join(words[:3])} failed: {lines[-1]}")
    return done


def check_checkout(version: str) -> None:
    """Raises CommandError for uncommitted changes, or a version that already has its tag."""
    if _run_git("status", "--porcelain"):
        raise CommandError("Something is not committed: a release is what a commit holds.")
    if _run_git("tag", "--list", f"v{version}"):
        raise CommandError(
            f"v{version} is tagged already: write the next version into pyproject.toml and the settings."
        )


def build_packages(tree: Path, folder: Path) -> list[Path]:
    """Wheel and source distribution, by the backend installed here: nothing is fetched.

    Their files have the time of the commit, so that the same commit builds the same wheel.
    """
    moment = _run_git("show", "-s", "--format=%ct", "HEAD")
    files = []
    for kind in ("sdist", "wheel"):
        code = f"import sys; from setuptools import build_meta; print(build_meta.build_{kind}(sys.argv[1]))"
        done = _run(sys.executable, "-c", code, str(folder), folder=tree, SOURCE_DATE_EPOCH=moment)
        files.append(folder / done.stdout.splitlines()[-1])
    return files


def check_base(base: str) -> None:
    """Raises CommandError for a base image that is not pinned."""
    if not re.fullmatch(r"\S+@sha256:[0-9a-f]{64}", base):
        raise CommandError(
            f"The base of the image ({base}) has no digest, so it can be another one tomorrow: name it with"
            " --base NAME:TAG@sha256:... (`skopeo inspect --format '{{.Digest}}' docker://NAME:TAG` prints the digest),"
            " or leave the image out with --without-image."
        )


def build_image(tree: Path, wheel: Path, file: Path, base: str) -> Path:
    """An archive of the image for `podman load` or `docker load`."""
    with tempfile.TemporaryDirectory() as name:
        for part in (tree / "deploy" / "Containerfile", tree / "deploy" / "requirements.txt", wheel):
            shutil.copy(part, name)
        tag = f"{IMAGE}:{wheel.name.split('-')[1]}"
        _run("buildah", "build", f"--build-arg=BASE={base}", "--tag", tag, name, folder=tree)
        _run("buildah", "push", tag, f"docker-archive:{file}:{tag}", folder=tree)
    return file


def write_sums(folder: Path) -> None:
    """Writes sums for `sha256sum --check`."""
    files = sorted(file for file in folder.iterdir() if file.name != SUMS)
    lines = (f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)
    (folder / SUMS).write_text("".join(lines), encoding="utf-8")


def _build(tree: Path, folder: Path, notes: str, base: str | None) -> None:
    """Builds all; without a base no image."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    _, wheel = build_packages(tree, folder)
    if base:
        build_image(tree, wheel, folder / wheel.name.replace(".whl", ".image.tar"), base)
    _run(sys.executable, "-m", "deploy.releases.bill_of_materials", str(folder / BILL), folder=ROOT)
    (folder / NOTES).write_text(notes, encoding="utf-8")
    write_sums(folder)
    for file in sorted(folder.iterdir()):
        print(f"{file.stat().st_size:>12,}  {file.relative_to(ROOT)}")
    if not base:
        print("No image: --without-image, or there is no buildah on this machine.")


def run_release(arguments: argparse.Namespace) -> None:
    version = read_version(ROOT)
    notes = read_notes((ROOT / "deploy" / "CHANGELOG.md").read_text(encoding="utf-8"), version)
    check_checkout(version)
    base = arguments.base if shutil.which("buildah") and not arguments.without_image else None
    if base:
        check_base(base)
    if not arguments.without_checks:
        subprocess.run([ROOT / "deploy" / "check"], check=True)
    with tempfile.TemporaryDirectory() as name:
        # Only what is committed: setuptools would include leftovers of an earlier build.
        folder = Path(name)
        done = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True)
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
            archive.extractall(folder, filter="data")
        _build(Path(name), ROOT / "build" / "release", notes, base)
    if arguments.dry_run:
        print(f"A dry run: v{version} is not tagged.")
        return
    _run_git(
        "tag", "--annotate", f"v{version}", "--file", str(ROOT / "build" / "release" / NOTES), "--cleanup=verbatim"
    )
    print(f"v{version} is tagged. Nothing was published: push the tag, and upload what is in build/release.")


def main() -> int:
    parser = argparse.ArgumentParser(prog="deploy/release", description=__doc__)
    parser.add_argument("--dry-run", action="store_true", help="do all but the tag")
    parser.add_argument("--without-checks", action="store_true", help="deploy/check passed for this commit before")
    parser.add_argument("--without-image", action="store_true", help="build no image, even where buildah is there")
    parser.add_argument("--base", default=BASE, metavar="IMAGE", help="what the image is built on, with its digest")
    try:
        run_release(parser.parse_args())
    except CommandError as fault:
        print(f"deploy/release: {fault}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError:
        print("deploy/release: deploy/check found something; nothing was built.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
