"""The HTTP edge of /mcp: host and bearer checks, Streamable HTTP, well-known documents.

May import `calls` and `toolkit`; the only package besides `rest` that uses the SDK or Starlette during a call.
"""
