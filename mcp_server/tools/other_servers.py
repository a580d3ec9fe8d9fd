"""MCP servers of others: seat maps, airport delays and lounges."""

from mcp_server.toolkit.context import Call
from mcp_server.toolkit.provenance import Verified, describe_verified
from mcp_server.toolkit.registry import Effect, Tier, tool
from mcp_server.toolkit.results import Result
from shared.domain.plurals import pluralize
from shared.reference.rows import OtherServer


class ListedServer(Verified):
    name: str
    covers: list[str]
    url: str
    auth: str
    maintained_by: str
    note: str | None


class OtherServers(Result):
    servers: list[ListedServer]
    as_of: str | None


def _to_server(row: OtherServer) -> ListedServer:
    return ListedServer(
        name=row.name,
        covers=list(row.covers),
        url=row.url,
        auth=row.auth,
        maintained_by=row.maintained_by,
        note=row.note,
        **describe_verified(row),
    )


@tool(
    title="Find other travel connectors",
    phrases="What other MCP servers or connectors can I add for what you can't do, such as seat maps?",
    area="search",
    tier=Tier.FREE,
    effect=Effect.READS,
    static=True,
)
def discover_more_flight_tools(call: Call) -> OtherServers:
    """Lists other MCP servers and connectors to install for what is missing here: seat maps, airport delays, lounges.

    For "What other tools can I add?" Run by others and not tested here. Free.
    """
    rows = list(call.reference.rows("other_servers.csv"))
    return OtherServers(
        message=f"{pluralize(len(rows), 'MCP server')} run by others. None is part of this service.",
        servers=[_to_server(r) for r in rows],
        as_of=min((r.as_of for r in rows if r.as_of), default=None),
    )
