"""Environments of the clients: none of these packages is a dependency of the product, so each set is kept apart.

They stand in `build/clients`, made once from the package registries this machine is set up for; a changed line makes
that one again.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "clients"
PYTHON = {
    "one": (  # of the first SDK
        "mcp==1.30.0",
        "autogen-ext[mcp]==0.7.5",
        "google-genai==2.34.0",
        "langchain-google-genai==4.4.3",
        "langchain-mcp-adapters==0.3.2",
        "openai-agents==0.24.0",
        "pydantic-ai-slim[mcp,openai,google]==2.68.0",
        "semantic-kernel[mcp]==1.45.0",
    ),
    "two": ("mcp==2.3.0", "fastmcp==4.2.3"),
}
NODE = (
    "@ai-sdk/mcp@2",
    "@modelcontextprotocol/client@2",
    "@modelcontextprotocol/inspector@2",
    "@modelcontextprotocol/sdk@1.32",
    "ai@7",
    "mcp-remote@0.15",
    "node@22",
)


def prepare_python(name: str) -> Path:
    """The interpreter of one environment."""
    folder = BUILD / name
    python = folder / "bin" / "python"
    if not _is_made(folder, PYTHON[name]):
        _run(sys.executable, "-m", "venv", str(folder))
        _run(str(python), "-m", "pip", "install", "--quiet", *PYTHON[name])
        _mark(folder, PYTHON[name])
    return python


def prepare_node() -> Path:
    """The folder of the packages, with Node itself in `.bin`."""
    folder = BUILD / "node"
    if not _is_made(folder, NODE):
        folder.mkdir(parents=True, exist_ok=True)
        npm = shutil.which("npm")
        assert npm, "npm is needed to install the clients that are written in JavaScript"
        _run(npm, "install", "--prefix", str(folder), "--no-save", "--no-package-lock", "--loglevel=error", *NODE)
        _mark(folder, NODE)
    return folder / "node_modules"


def _is_made(folder: Path, packages: tuple[str, ...]) -> bool:
    made = folder / "made.txt"
    if made.exists() and made.read_text(encoding="utf-8").split("\n") == list(packages):
        return True
    shutil.rmtree(folder, ignore_errors=True)
    return False


def _mark(folder: Path, packages: tuple[str, ...]) -> None:
    (folder / "made.txt").write_text("\n".join(packages), encoding="utf-8")


def _run(*line: str) -> None:
    done = subprocess.run(line, capture_output=True, text=True, timeout=1800, check=False, env=dict(os.environ))
    assert done.returncode == 0, f"{' '.join(line)}: {done.stdout[-2000:]}{done.stderr[-4000:]}"


if __name__ == "__main__":
    for name in PYTHON:
        prepare_python(name)
    prepare_node()
