"""The description of REST: valid, complete, importable, and true of what the service answers."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import schemathesis
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from openapi_spec_validator import validate
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from mcp_server.rest import openapi, routes
from mcp_server.toolkit.registry import TOOLS, Effect, Tier
from mcp_server.workers import ServerConfig
from shared.db.accounts import Account
from shared.db.base import transaction
from shared.domain.plans import Plan
from shared.domain.tool_profiles import AREAS, PROFILES
from shared.errors import PROBLEMS
from tests.mcp_server.rest.conftest import World
from tests.mcp_server.rest.test_routes import expect_problem
from tests.support.people import People, account

pytestmark = pytest.mark.slow  # the document of all tools takes seconds to build and to judge

DOCUMENT = "/.well-known/openapi.yaml"
CHECKS = [not_a_server_error, content_type_conformance, response_schema_conformance, status_code_conformance]
EXAMPLES_OF_EACH = 6


def read(world: World, query: str = "") -> dict[str, Any]:
    """As JSON, which takes a fifteenth of what YAML takes; a test below compares the two."""
    answer = world.get(DOCUMENT + query)
    assert answer.status_code == 200, answer.text
    document: dict[str, Any] = json.loads(answer.content)
    return document


def tools_of(document: dict[str, Any]) -> set[str]:
    return {path.rsplit("/", 1)[1] for path, item in document["paths"].items() if "post" in item} - {
        "register",
        "report",
    }


@pytest.mark.spec("s4.1.openapi_document")
def test_the_document_is_open_valid_and_has_every_tool(world: World) -> None:
    answer = world.get(DOCUMENT)
    assert answer.headers["content-type"] == "application/yaml"
    assert answer.headers["access-control-allow-origin"] == "*"
    document = json.loads(answer.content)
    validate(document)
    assert document["openapi"] == "3.1.0"
    assert document["servers"] == [{"url": world.url}]
    assert tools_of(document) == set(TOOLS)
    ids = [operation["operationId"] for item in document["paths"].values() for operation in item.values()]
    assert len(ids) == len(set(ids)) == len(TOOLS) + 4


@pytest.mark.spec("s4.1.openapi_document")
def test_every_operation_is_described_within_what_chat_assistants_take(world: World) -> None:
    for path, item in read(world)["paths"].items():
        for operation in item.values():
            assert len(operation["operationId"]) <= 64, path
            assert len(operation["summary"]) <= 300, path
            assert len(operation.get("description", "")) <= 300, path
    for name, tool in TOOLS.items():
        assert openapi.operation(tool)["description"].endswith(f"{tool.tier.label}."), name
        assert openapi.operation(tool)["x-openai-isConsequential"] == (tool.effect is not Effect.READS)


def test_requests_and_answers_have_full_schemas_and_accepted_examples(world: World) -> None:
    document = read(world)
    for name, tool in TOOLS.items():
        operation = document["paths"][f"/api/v1/tools/{name}"]["post"]
        body = operation["requestBody"]["content"]["application/json"]
        schema = {k: v for k, v in tool.arguments.schema.items() if k != "$defs"}
        if tool.condenses:  # a program reads the answer: it is whole unless asked otherwise
            whole = schema["properties"]["detail"] | {"default": "full"}
            schema |= {"properties": schema["properties"] | {"detail": whole}}
        assert body["schema"] == schema
        tool.arguments.check(body["example"])
        answers = operation["responses"]["200"]["content"]["application/json"]["schema"]["anyOf"]
        assert tool.condenses == any(answer["$ref"].endswith("/CompactAnswer") for answer in answers)
        result = document["components"]["schemas"][answers[0]["$ref"].rsplit("/", 1)[1]]
        added = {"data_mode", "notice"} | ({"report_url"} if tool.takes_reports else set())
        assert set(tool.returns.model_fields) | added == set(result["properties"]), name
        assert ("403" in operation["responses"]) == (tool.tier is Tier.ADMIN)
        assert ({} in operation.get("security", [])) == tool.anonymous


def test_areas_narrow_the_document_and_what_it_carries(world: World) -> None:
    tools = {name for name, tool in TOOLS.items() if tool.area == "cards"}
    for part, expected in {"cards": tools, "keeper": PROFILES["keeper"][1]}.items():
        narrow = read(world, f"?areas={part}")
        validate(narrow)
        assert tools_of(narrow) == expected
    assert {tag["name"] for tag in narrow["tags"]} == {TOOLS[name].area for name in expected}
    assert set(narrow["components"]["schemas"]) < set(read(world)["components"]["schemas"])


@pytest.mark.parametrize("part", ["cars", "cards,trips", "cards,cards", "x" * 1000])
def test_other_sets_of_areas_have_no_document(world: World, part: str) -> None:
    """There would be two million of them."""
    told = expect_problem(world.get(f"{DOCUMENT}?areas={part}"), 400, "unreadable")
    assert told["areas"] == list(dict.fromkeys([*AREAS, *PROFILES]))
    assert all(name in told["detail"] for name in told["areas"])


def test_a_document_is_built_once_however_many_ask_at_the_same_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    built = []

    def build(name: str) -> openapi.Document:
        built.append(name)
        return openapi.Document(b"", name)

    with ThreadPoolExecutor(8) as pool:
        documents = list(pool.map(lambda _: openapi.build_once(build, "x"), range(8)))
    assert (built, {id(d) for d in documents}) == (["x"], {id(documents[0])})


@pytest.mark.usefixtures("running")
def test_the_whole_document_is_built_before_the_server_is_ready() -> None:
    openapi.forget_documents()
    ServerConfig("mcp_server.app:build", factory=True, log_config=None).load()
    assert openapi.find_built(openapi.document, openapi.WHOLE)


@pytest.mark.parametrize(("setting", "is_there"), [("true", True), ("false", False)])
def test_registration_is_described_where_programs_may_register(configure: Any, setting: str, is_there: bool) -> None:
    configure(AGENT_REGISTRATION=setting)
    assert ("/api/v1/agent/register" in openapi.pages()) == is_there


def test_every_problem_a_response_names_exists(world: World) -> None:
    shown = read(world)["components"]["responses"]
    assert {
        response["content"]["application/problem+json"]["example"]["outcome"] for response in shown.values()
    } <= set(PROBLEMS)
    assert "Problem402" in shown


def test_documents_are_built_once_and_not_sent_again_to_who_has_them(world: World) -> None:
    for path in (DOCUMENT, "/api/v1/tools", "/api/v1/tools/list_trips"):
        first = world.get(path)
        again = world.get(path, headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b""), path


def test_the_list_and_one_tool_tell_what_a_program_needs(world: World, people: People) -> None:
    listed = world.get("/api/v1/tools").json()["tools"]
    assert [tool["name"] for tool in listed] == sorted(TOOLS)
    one = world.get("/api/v1/tools/list_trips", headers={"X-API-Key": world.key(people.bob)}).json()
    assert one["arguments"] == TOOLS["list_trips"].arguments.schema
    assert (one["area"], one["tier"], one["needs_key"]) == ("trips", "Free", True)
    assert one["returns"]["type"] == "object"
    assert next(tool for tool in listed if tool["name"] == "list_trips").items() <= one.items()
    assert expect_problem(world.get("/api/v1/tools/list_trip"), 404, "unknown_tool")["nearest"][0] == "list_trips"
    assert {t["area"] for t in world.get("/api/v1/tools?areas=cards").json()["tools"]} == {"cards"}


def test_a_key_that_is_sent_is_judged_at_the_lists_too(world: World) -> None:
    for path in ("/api/v1/tools", "/api/v1/tools/list_trips"):
        expect_problem(world.get(path, headers={"X-API-Key": "awt_ak_wrong"}), 401, "unauthorized")


def test_the_document_reads_the_same_as_yaml_and_as_json(world: World) -> None:
    text = world.get(DOCUMENT).content
    assert yaml.load(text, Loader=yaml.CSafeLoader) == json.loads(text)


@pytest.mark.spec("s4.1.openapi_document")
def test_no_schema_is_named_after_the_path_of_its_module(world: World) -> None:
    """Programs are generated from these names, so moving a module must not change them."""
    names = read(world)["components"]["schemas"]
    assert [name for name in names if "__" in name] == []


@pytest.mark.slow  # every operation is tried with what its schema allows and with what it forbids
def test_what_the_service_answers_is_what_the_document_says(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "READS_PER_MINUTE", 10**9)
    ada = account("fuzz", Plan.ENTERPRISE, admin=True, api_calls_per_month=10**6)
    headers = {"X-API-Key": world.key(ada)}
    document = read(world)
    for item in [document, document["components"], *(o for i in document["paths"].values() for o in i.values())]:
        item.pop("security", None)
        item.pop("securitySchemes", None)  # the key is sent by this test; no other is made up next to it
    schema = schemathesis.openapi.from_dict(document)
    tried: set[str] = set()

    def try_one(operation: Any) -> None:
        @given(case=operation.as_strategy())
        @settings(
            max_examples=EXAMPLES_OF_EACH,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def trial(case: Any) -> None:
            answer = case.call(base_url=world.url, headers=headers)
            away = answer.status_code == 503  # a source that is not set up here: documented, and no fault of the server
            case.validate_response(answer, checks=CHECKS[1:] if away else CHECKS)
            tried.add(case.operation.label)

        trial()

    operations = [made.ok() for made in schema.get_all_operations()]
    for operation in operations:
        try_one(operation)
    assert len(tried) == len(operations) == len(TOOLS) + 4
    with transaction() as session:
        assert session.get_one(Account, ada.account_id).plan == "enterprise"
