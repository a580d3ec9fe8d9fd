"""The open pages of the MCP host: resource metadata per host, the auth server's document, health."""

import pytest
from sqlalchemy.exc import OperationalError

from mcp_server.transport import well_known
from shared.db import health
from shared.db.schema_version import Schema
from shared.settings import VERSION
from tests.mcp_server.conftest import World

ROOT = "/.well-known/oauth-protected-resource"
PATHS = [f"{ROOT}/mcp", f"{ROOT}/mcp/readonly", f"{ROOT}/mcp/x/traveller", f"{ROOT}/mcp/x/cards,advisor", ROOT]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.spec("s4.1.resource_metadata", "s4.1.resource_metadata_per_host", "s5.2.one_scope")
def test_each_host_describes_its_own_resource(world: World, path: str) -> None:
    own = world.base.removeprefix("http://")
    for host in (own, world.web_host, own.replace("127.0.0.1", "localhost")):
        answer = world.http.get(world.base + path, headers={"Host": host})
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/json"
        document = answer.json()
        assert document["resource"] == f"http://{host}{path.removeprefix(ROOT)}"  # RFC 9728 3.3
        assert document["authorization_servers"] == [world.auth.url]
        assert document["scopes_supported"] == ["mcp:read"]
        assert document["resource_name"] == "Award Travel"


@pytest.mark.parametrize("path", [*PATHS, well_known.AUTH_METADATA])
def test_a_client_in_a_browser_may_name_its_protocol_version_to_read_what_is_open(world: World, path: str) -> None:
    asks = {"Origin": "http://localhost:6274", "Access-Control-Request-Method": "GET"}
    asks["Access-Control-Request-Headers"] = "mcp-protocol-version"
    answer = world.http.request("OPTIONS", world.base + path, headers=asks)
    assert answer.status_code == 204
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "mcp-protocol-version" in answer.headers["access-control-allow-headers"]
    assert world.http.get(world.base + path, headers=asks).headers["access-control-allow-origin"] == "*"
    assert "GET" in world.http.request("PUT", world.base + path).headers["allow"]


@pytest.mark.spec("s4.1.as_metadata_on_both_hosts")
def test_auth_servers_document_is_copied_here(world: World) -> None:
    document = world.http.get(f"{world.base}/.well-known/oauth-authorization-server").json()
    assert document["issuer"] == world.auth.url


@pytest.mark.spec("s4.1.as_metadata_on_both_hosts")
def test_auth_servers_document_is_503_while_it_is_away(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    page = next(r for r in world.front.pages.routes if r.path == well_known.AUTH_METADATA)  # type: ignore[attr-defined]
    monkeypatch.setattr(page.endpoint.__self__, "expires", 0.0)
    world.auth.status = 500
    answer = world.http.get(f"{world.base}{well_known.AUTH_METADATA}")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")


def test_health_says_version_status_and_data_mode_to_any_host(world: World) -> None:
    answer = world.http.get(f"{world.base}/healthz", headers={"Host": "10.0.0.7:8001"})
    assert answer.json() == {"status": "Online", "version": VERSION, "data_mode": "sandbox"}


def test_ready_when_database_schema_and_reference_are(world: World) -> None:
    answer = world.http.get(f"{world.base}/readyz")
    assert answer.status_code == 200
    assert answer.json() == {
        "ready": True,
        "status": "ready",
        "version": VERSION,
        "checks": {"database": True, "schema": True, "reference": True},
    }


def test_not_ready_without_the_database(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> None:
        raise OperationalError("select 1", {}, Exception("gone"))

    monkeypatch.setattr(health, "engine", gone)
    answer = world.http.get(f"{world.base}/readyz")
    assert (answer.status_code, answer.json()["checks"]["database"]) == (503, False)
    assert "gone" not in answer.text


def test_not_ready_on_another_schema(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    health._check_schema.cache_clear()
    monkeypatch.setattr("shared.db.health.read_schema", lambda _: Schema("0001", "0002", "0001"))
    answer = world.http.get(f"{world.base}/readyz")
    assert (answer.status_code, answer.json()["checks"]["schema"]) == (503, False)
    assert "award-travel migrate" in answer.json()["reason"]


def test_introspection_goes_to_the_issuer_by_name(world: World) -> None:
    world.http.get(f"{world.base}/.well-known/oauth-authorization-server")
    assert world.front.token_verifier.auth_server.headers == {"Host": world.web_host}
    assert set(world.auth.hosts) <= {world.web_host}


def test_unknown_page_is_404(world: World) -> None:
    assert world.http.get(f"{world.base}/nonsense").status_code == 404
