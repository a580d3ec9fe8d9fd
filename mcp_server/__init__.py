"""The MCP server: bearer check, gate, quota and the tools, over Streamable HTTP and over REST.

Its rooms, each importing only from those after it: `rest` and `pages` (HTTP alongside /mcp), `transport` (/mcp),
`tools`, `views` (result models), `calls` (gate, quota, usage) and `ways_of_working` (prompts and skills), `toolkit`
(what a tool imports) and `screens` (what hosts draw next to an answer). May import `shared`, never the other programs.
A new tool is one function in `tools/<noun>.py` and its tests.
"""
