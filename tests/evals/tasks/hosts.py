"""The tool host on loopback for tasks tried over MCP, with private databases where no test run has them already."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from deploy.local.private_servers import Postgres, Valkey
from mcp_server.app import build
from mcp_server.calls.usage import USAGE_LOG
from mcp_server.toolkit.context import Caller
from mcp_server.transport.middleware import RequestGate
from shared.settings import Settings, settings
from tests.conftest import SETTINGS, empty_tables
from tests.mcp_server.auth_double import AuthDouble
from tests.mcp_server.conftest import addresses, bearer, listening, served

ADDRESSES = {"all": "/mcp", "lean": "/mcp/lean"}


@dataclass
class Hosts:
    """Where the tools are reached, and whom the stand-in for the auth server lets in."""

    base: str
    auth: AuthDouble
    front: RequestGate
    http: httpx.Client

    def grant_token(self, caller: Caller) -> str:
        return self.auth.grant(caller)

    def use(self, caller: Caller, name: str, /, **arguments: Any) -> dict[str, Any]:
        """The structured content of one call of a tool."""
        params = {"name": name, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        response = self.http.post(f"{self.base}/mcp", json=message, headers=bearer(self.grant_token(caller)))
        content: dict[str, Any] = response.raise_for_status().json()["result"]["structuredContent"]
        return content

    def begin_anew(self) -> None:
        """No one and nothing is left of the attempt before."""
        empty_tables()
        self.front.token_verifier.forget_all()
        USAGE_LOG.pending.clear()
        USAGE_LOG.today.clear()


@contextmanager
def run_hosts() -> Iterator[Hosts]:
    (auth_socket, auth_port), (mcp_socket, mcp_port) = listening(), listening()
    auth = AuthDouble(url=f"http://127.0.0.1:{auth_port}")
    with addresses(auth_port, mcp_port), served(auth.app(), auth_socket):
        front = build()
        with served(front, mcp_socket), httpx.Client(trust_env=False, timeout=60) as http:
            yield Hosts(f"http://127.0.0.1:{mcp_port}", auth, front, http)


@contextmanager
def run_databases() -> Iterator[None]:
    """Empty databases that end with it. Of this process's settings only those of the model stay."""
    from shared.db.schema import upgrade

    for name in list(os.environ):
        if name.lower() in Settings.model_fields and not name.lower().startswith("standing_order_"):
            del os.environ[name]
    with tempfile.TemporaryDirectory(prefix="award_evals_") as folder:
        home = Path(folder)
        home.chmod(0o755)
        postgres, valkey = Postgres(home, durable=False), Valkey(home, durable=False)
        try:
            postgres.start()
            postgres.create_database("award")
            os.environ.update(SETTINGS, DATABASE_URL=postgres.url("award"), REDIS_URL=valkey.start().url)
            settings.cache_clear()
            upgrade(settings().database_url)
            yield
        finally:
            valkey.stop()
            postgres.stop()
