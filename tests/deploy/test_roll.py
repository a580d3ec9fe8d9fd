"""`award-travel roll`: a signal that ends most programs goes to servers of this service alone."""

import subprocess
import sys

import pytest

from deploy.cli import main


@pytest.mark.parametrize("more", [[], ["-m", "mcp_server"]])
def test_another_program_is_left_alone(more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code = "import sys; sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code, *more], stdin=subprocess.PIPE) as other:
        assert main(["roll", str(other.pid)]) == 1
        assert f"Process {other.pid} is no server" in capsys.readouterr().err
        other.communicate()
    assert other.returncode == 0
