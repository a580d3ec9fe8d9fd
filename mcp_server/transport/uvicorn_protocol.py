"""The MCP host's HTTP protocol: bytes come in, requests whose heads end in time and size go on to the application."""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from shared.limits import LimitedHead


class Wire(LimitedHead, HttpToolsProtocol):
    """What uvicorn is told to speak."""
