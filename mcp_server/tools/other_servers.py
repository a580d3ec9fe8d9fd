"""Other people's MCP servers: seat maps, airport delays and lounges."""

from mcp_server.toolkit import Call, Effect, Result, Tier, tool
from mcp_server.toolkit.provenance import Verified, describe_verified
from mcp_server.toolkit.wording import tell_rows


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


@tool("search", Tier.FREE, Effect.READS, "Find other travel connectors", static=True)
def discover_more_flight_tools(call: Call) -> OtherServers:
    """Lists other MCP servers and connectors to install for what is missing here: seat maps, airport delays, lounges.

    For "What other tools can I add?" Run by others and not tested here. Free.
    """
    rows = list(call.reference.rows("other_servers.csv"))
    return OtherServers(
        message=f"{tell_rows(len(rows), 'MCP server', (r.name for r in rows))} None is part of this service.",
        servers=[ListedServer.from_row(r, **describe_verified(r)) for r in rows],
        as_of=min((r.as_of for r in rows if r.as_of), default=None),
    )
