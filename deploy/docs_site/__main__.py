"""The command that builds the site, strictly: a broken link or anchor ends it with status 1."""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from deploy.docs_site.sources import ROOT, stage

FOLDER = ROOT / "build" / "docs"


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m deploy.docs_site", description="Build the documentation site.")
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, help="where to build it (%(default)s)")
    folder = parser.parse_args(words).folder
    shutil.rmtree(folder, ignore_errors=True)
    stage(folder)
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--config-file", str(folder / "zensical.toml")]
    process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False)
    if process.returncode:
        print(process.stdout)
    else:
        print(f"{folder / 'site' / 'index.html'}")
    return process.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
