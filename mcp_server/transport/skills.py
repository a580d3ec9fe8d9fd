"""The skills extension (SEP-2640): the ways of working as resources, with their list, heads and digests."""

from collections.abc import Sequence
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.extension import Extension, MethodBinding, ResourceBinding
from mcp.server.mcpserver.resources import TextResource
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, PaginatedRequestParams, RequestParams

from mcp_server.ways_of_working.skills import Skill, build_skills

TTL_MS = 300_000
_FRESHNESS = {"resultType": "complete", "ttlMs": TTL_MS, "cacheScope": "public"}


class GetSkillParams(RequestParams):
    uri: str


class SkillsExtension(Extension):
    """Ten skills of one file each. Directories are not read: the list names every file."""

    identifier = "io.modelcontextprotocol/skills"

    def resources(self) -> Sequence[ResourceBinding]:
        return [ResourceBinding(_to_resource(skill)) for skill in build_skills().values()]

    def methods(self) -> Sequence[MethodBinding]:
        return [
            MethodBinding("skills/list", PaginatedRequestParams, list_skills),
            MethodBinding("skills/get", GetSkillParams, get_skill),
        ]


async def list_skills(ctx: ServerRequestContext[Any, Any], params: PaginatedRequestParams) -> dict[str, Any]:  # noqa: ARG001
    if params.cursor is not None:
        raise MCPError(code=INVALID_PARAMS, message="The list has one page; send no cursor.")
    return {**_FRESHNESS, "skills": [_to_entry(skill) for skill in build_skills().values()]}


async def get_skill(ctx: ServerRequestContext[Any, Any], params: GetSkillParams) -> dict[str, Any]:  # noqa: ARG001
    skill = build_skills().get(params.uri)
    if skill is None:
        raise MCPError(code=INVALID_PARAMS, message="No skill is served at this URI; skills/list names all.")
    return {**_FRESHNESS, "skill": _to_entry(skill)}


def _to_entry(skill: Skill) -> dict[str, Any]:
    files = [{"uri": skill.uri, "digest": skill.digest, "size": len(skill.content)}]
    return {"uri": skill.uri, "frontmatter": dict(skill.frontmatter), "resources": files}


def _to_resource(skill: Skill) -> TextResource:
    return TextResource(
        uri=skill.uri,
        name=skill.name,
        title=skill.title,
        description=skill.frontmatter["description"],
        mime_type="text/markdown",
        text=skill.text,
    )
