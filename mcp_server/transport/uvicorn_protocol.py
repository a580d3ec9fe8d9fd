"""The HTTP protocol class uvicorn uses on the MCP host."""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from shared.asgi import HeadLimitProtocol


class HttpProtocol(HeadLimitProtocol, HttpToolsProtocol):
    """uvicorn's httptools protocol with limits on the head of a request."""
