"""What models would be shown: converters.py FILE of tools as listed. Each converter's faults by tool.

OpenAI's strict mode, Gemini's schemas in two ways, and what LangChain, Pydantic AI and AutoGen make of them.
"""

import copy
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from steps import tell

Schema = dict[str, Any]


def find_open(node: Any, place: str = "") -> list[str]:
    """Objects in which a model that is kept to the schema could send nothing."""
    if isinstance(node, list):
        return [found for part in node for found in find_open(part, place)]
    if not isinstance(node, dict):
        return []
    is_empty = node.get("type") == "object" and not node.get("properties") and place
    inside = [f for name, part in node.get("properties", {}).items() for f in find_open(part, f"{place}.{name}")]
    return [place] * bool(is_empty) + inside + find_open(node.get("items"), f"{place}[]")


def openai_strict(tool: Schema) -> None:
    from agents.strict_schema import ensure_strict_json_schema

    strict = ensure_strict_json_schema(copy.deepcopy(tool["inputSchema"]))
    assert not (empty := find_open(strict)), empty


def google_genai(tool: Schema) -> None:
    from google.genai import types

    schema = types.JSONSchema.model_validate(tool["inputSchema"])
    made = types.Schema.from_json_schema(json_schema=schema, raise_error_on_unsupported_field=True)
    assert not find_bad_enums(made.model_dump(exclude_none=True))


def find_bad_enums(node: Any) -> list[Any]:
    """Enums that Gemini refuses with the whole request: of another type than text, or with an empty text."""
    if isinstance(node, list):
        return [found for part in node for found in find_bad_enums(part)]
    if not isinstance(node, dict):
        return []
    values = node.get("enum")
    is_bad = isinstance(values, list) and not ("STRING" in str(node.get("type")).upper() and all(values))
    return [values] * is_bad + [found for part in node.values() for found in find_bad_enums(part)]


def langchain_google(tool: Schema) -> None:
    from langchain_google_genai._function_utils import convert_to_genai_function_declarations

    convert_to_genai_function_declarations([_to_openai(tool)])


def langchain_openai(tool: Schema) -> None:
    from langchain_core.utils.function_calling import convert_to_openai_tool

    convert_to_openai_tool(_to_openai(tool)["function"], strict=True)


def pydantic_ai_google(tool: Schema) -> None:
    from pydantic_ai.profiles.google import GoogleJsonSchemaTransformer

    made = GoogleJsonSchemaTransformer(copy.deepcopy(tool["inputSchema"])).walk()
    assert not find_bad_enums(made)


def pydantic_ai_openai(tool: Schema) -> None:
    from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer

    OpenAIJsonSchemaTransformer(copy.deepcopy(tool["inputSchema"]), strict=True).walk()


def autogen(tool: Schema) -> None:
    from autogen_core.utils import schema_to_pydantic_model

    schema_to_pydantic_model(copy.deepcopy(tool["inputSchema"]))


def _to_openai(tool: Schema) -> Schema:
    function = {"name": tool["name"], "description": tool["description"], "parameters": tool["inputSchema"]}
    return {"type": "function", "function": copy.deepcopy(function)}


CONVERTERS: tuple[Callable[[Schema], None], ...] = (
    *(openai_strict, google_genai, langchain_google, langchain_openai),
    *(pydantic_ai_google, pydantic_ai_openai, autogen),
)


def main(file: str) -> None:
    tools: list[Schema] = json.loads(Path(file).read_text(encoding="utf-8"))
    faults: dict[str, list[str]] = {}
    for convert in CONVERTERS:
        faults[convert.__name__] = []
        for tool in tools:
            try:
                convert(tool)
            except Exception as error:
                faults[convert.__name__].append(f"{tool['name']}: {type(error).__name__}: {str(error)[:200]}")
    tell(tools=len(tools), faults=faults)


main(sys.argv[1])
