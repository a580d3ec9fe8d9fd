"""The MCP server: bearer check, gate, quota and the tools, over Streamable HTTP and over REST.

Its packages, each importing only from later ones: `rest` and `pages` (HTTP alongside /mcp), `transport` (/mcp),
`tools`, `views` (result models), `calls` (gate, quota, usage) and `ways_of_working` (prompts and skills), `toolkit`
(what a tool imports) and `screens` (what hosts show next to an answer). May import `shared`, never the other programs.
A new tool is one function in `tools/<noun>.py` and its tests.
"""
