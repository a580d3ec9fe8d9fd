"""`award-travel example KIND`: the files for production that the package carries, printed or written to a folder."""

import argparse
import sys
from pathlib import Path

from deploy.errors import CommandError

FOLDER = Path(__file__).parent
# What each word prints: files of this folder, in the order in which they are needed.
KINDS = {
    "env": ("env.example",),
    "caddy": ("Caddyfile",),
    "observability": ("observability/*",),
    "units": ("units/*",),
    "image": ("Containerfile", "constraints.txt"),
    "compose": ("compose.yaml",),
    "kubernetes": ("kubernetes/*",),
}


def add_example(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", choices=tuple(KINDS), help="what for")
    parser.add_argument("--output", type=Path, metavar="DIR", help="write the files into this folder instead")


def list_files(kind: str) -> list[Path]:
    return [file for pattern in KINDS[kind] for file in sorted(FOLDER.glob(pattern))]


def format_files(files: list[Path]) -> str:
    """One file as it is; several with a comment before each, so that YAML among them stays YAML."""
    if len(files) == 1:
        return files[0].read_text(encoding="utf-8")
    return "".join(f"# --- {file.name}\n{file.read_text(encoding='utf-8').rstrip()}\n\n" for file in files)


def write_files(files: list[Path], folder: Path) -> None:
    """Nothing that is there already is overwritten: an operator has changed it."""
    folder.mkdir(parents=True, exist_ok=True)
    if existing := [file.name for file in files if (folder / file.name).exists()]:
        raise CommandError(f"{folder} already holds {', '.join(existing)}: name an empty folder.")
    for file in files:
        (folder / file.name).write_bytes(file.read_bytes())
        print(folder / file.name)


def run_example(arguments: argparse.Namespace) -> None:
    files = list_files(arguments.kind)
    if arguments.output:
        write_files(files, arguments.output)
    else:
        sys.stdout.write(format_files(files))
