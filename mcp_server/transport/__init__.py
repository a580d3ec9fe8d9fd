"""The HTTP edge of /mcp: host and bearer checks, Streamable HTTP, well-known documents.

May import `calls` and `toolkit`; the only room besides `rest` that knows the SDK or Starlette in the path of a call.
"""
