"""The MCP server: bearer check, gate, quota and the tools, over Streamable HTTP and over REST.

May import `shared`, never the other programs. A new tool is one function in `tools/<noun>.py` and its tests.
"""
