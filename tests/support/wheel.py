"""The wheel and the sdist of this tree, built in a copy of it, and an environment with the wheel installed."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("auth_server", "deploy", "jobs", "mcp_server", "shared")


def copy_tree(folder: Path) -> Path:
    """What the build needs, without what earlier builds and runs left: setuptools takes a stale build/lib as it is."""
    tree = folder / "tree"
    for name in PACKAGES:
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree / name)
    return tree


def build(kind: str, tree: Path, folder: Path) -> Path:
    """`kind` is wheel or sdist. By the backend of pyproject.toml as it is installed here, so nothing is fetched."""
    folder.mkdir(exist_ok=True)
    code = f"import sys; from setuptools import build_meta; print(build_meta.build_{kind}(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], cwd=tree, capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / done.stdout.splitlines()[-1]


def install(wheel: Path, folder: Path) -> Path:
    """The `bin` of a new environment with the wheel; all other packages are those of this environment."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    pip = [sys.executable, "-m", "pip", "-q", "--python", str(folder / "bin" / "python")]
    subprocess.run(
        [*pip, "install", "--no-deps", "--no-index", str(wheel)], check=True, env=os.environ | {"PIP_NO_INPUT": "1"}
    )
    site = next((folder / "lib").glob("python3.*/site-packages"))
    # Only named there, so the .pth of the editable installation is not followed and our own packages are the wheel's.
    (site / "others.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return folder / "bin"
