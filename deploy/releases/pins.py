"""`python -m deploy.releases.pins`: copies the versions of constraints.txt to every other file that names them.

In pyproject.toml these are the extra `pinned`, for a wheel installed by itself, and the constraints that uv reads;
requirements.txt has the same with the hashes of the files. Needs uv, and the registry that it is set up for.
"""

import re
import subprocess
from pathlib import Path

DEPLOY = Path(__file__).parents[1]
PROJECT, CONSTRAINTS = DEPLOY.parent / "pyproject.toml", DEPLOY / "constraints.txt"
REQUIREMENTS = DEPLOY / "requirements.txt"
SYSTEMS = "sys_platform == 'darwin' or sys_platform == 'linux'"  # all the package supports
# A server's packages, on every supported system.
COMPILE = (
    *("uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11", "--generate-hashes"),
    *("--no-annotate", "--no-header", "--constraint", "deploy/constraints.txt"),
    *("--extra", "embedded", "--extra", "telemetry", "pyproject.toml", "--output-file", str(REQUIREMENTS)),
)


def list_requirements(text: str) -> list[str]:
    """The lines of requirements.txt without hashes: NAME==VERSION, with the condition where it has one."""
    return [line.removesuffix(" \\") for line in text.splitlines() if not line.startswith(" ")]


def write_list(text: str, name: str, values: list[str]) -> str:
    """The text of pyproject.toml with these values in the list of the name."""
    lines = "".join(f'    "{value}",\n' for value in values)
    return re.sub(rf"^{name} = \[\n.*?^\]", f"{name} = [\n{lines}]", text, count=1, flags=re.M | re.S)


def main() -> None:
    constraints = CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    text = write_list(PROJECT.read_text(encoding="utf-8"), "constraint-dependencies", constraints)
    PROJECT.write_text(write_list(text, "pinned", []), encoding="utf-8")  # an old one would block new ones
    subprocess.run(COMPILE, cwd=DEPLOY.parent, check=True)
    hashed = REQUIREMENTS.read_text(encoding="utf-8").replace(f" ; {SYSTEMS}", "").replace(f" and ({SYSTEMS})", "")
    REQUIREMENTS.write_text(hashed, encoding="utf-8")
    PROJECT.write_text(write_list(text, "pinned", list_requirements(hashed)), encoding="utf-8")


if __name__ == "__main__":
    main()
