"""HTTP protocol of the web host: uvicorn's httptools implementation with limits on the head of a request."""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from shared.asgi import HeadLimitProtocol


class HttpProtocol(HeadLimitProtocol, HttpToolsProtocol):
    """uvicorn's httptools protocol with limits on the head of a request."""
