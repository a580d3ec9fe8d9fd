"""Metadata of the authorization server: complete, true, and independent of the Host header."""

import pytest
from starlette.testclient import TestClient

from tests.auth_server.in_process_browser import BASE

WELL_KNOWN = "/.well-known/oauth-authorization-server"


@pytest.mark.spec("s4.1.as_metadata")
def test_metadata_names_every_endpoint_and_claims_what_exists(host: TestClient) -> None:
    metadata = host.get(WELL_KNOWN).json()
    assert metadata["issuer"] == BASE
    for name in ("authorization", "token", "registration", "revocation", "introspection"):
        path = metadata[f"{name}_endpoint"].removeprefix(BASE)
        assert host.request("OPTIONS", path).status_code in (204, 405)
    assert metadata["code_challenge_methods_supported"] == ["S256"]
    assert metadata["response_types_supported"] == ["code"]
    assert metadata["grant_types_supported"] == ["authorization_code", "refresh_token"]
    assert set(metadata["token_endpoint_auth_methods_supported"]) == {
        "none",
        "client_secret_basic",
        "client_secret_post",
    }
    assert metadata["authorization_response_iss_parameter_supported"] is True
    assert "offline_access" not in metadata["scopes_supported"]
    assert metadata["scopes_supported"] == ["mcp:read", "openid", "email"]
    assert metadata["client_id_metadata_document_supported"] is True
    assert (metadata["subject_types_supported"], metadata["id_token_signing_alg_values_supported"]) == (
        ["public"],
        ["RS256"],
    )
    assert host.get(metadata["jwks_uri"].removeprefix(BASE)).status_code == 200
    assert host.get(metadata["userinfo_endpoint"].removeprefix(BASE)).status_code == 401


def test_both_well_known_paths_say_the_same(host: TestClient) -> None:
    assert host.get(WELL_KNOWN).content == host.get("/.well-known/openid-configuration").content


@pytest.mark.parametrize("name", ["127.0.0.1:8000", "localhost:8000", "LOCALHOST:8000", "127.0.0.1:8001"])
def test_both_names_of_this_machine_are_served_and_the_issuer_stays(host: TestClient, name: str) -> None:
    answer = host.get(WELL_KNOWN, headers={"host": name})
    assert (answer.status_code, answer.json()["issuer"]) == (200, BASE)
