"""Two auth servers as programs, side by side on one database and one Redis: started here, addressed one by one."""

import os
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.support.service import wait_for

HOST = "127.0.0.1:8000"  # the public name of both, as the settings of the test run say it


@dataclass
class Program:
    process: subprocess.Popen[bytes]
    base: str
    log: Path

    def request(self, method: str, path: str, **more: Any) -> httpx.Response:
        headers = {"host": HOST} | dict(more.pop("headers", None) or {})
        return httpx.request(method, self.base + path, headers=headers, timeout=90, trust_env=False, **more)


def start(folder: Path, name: str, **changed: str) -> Program:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    log = folder / f"{name}.log"
    command = [sys.executable, "-m", "auth_server", "--port", str(port)]
    with log.open("wb") as words:
        env = {**os.environ, "WEB_URL": f"http://{HOST}", "CLIENT_DOCUMENT_FETCH": "false"} | changed
        process = subprocess.Popen(command, env=env, stdout=words, stderr=words)
    return Program(process, f"http://127.0.0.1:{port}", log)


def ready(program: Program) -> Program:
    def answers() -> bool:
        assert program.process.poll() is None, program.log.read_text(encoding="utf-8")
        try:
            return program.request("GET", "/readyz").status_code == 200
        except httpx.TransportError:
            return False

    wait_for("an auth server", answers, 40)
    return program


def stop(program: Program) -> None:
    program.process.terminate()
    program.process.wait(90)
