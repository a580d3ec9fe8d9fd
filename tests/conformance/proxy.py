"""A loopback proxy that adds a bearer token for programs that cannot send one."""

import http.client
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

_OWN = {"connection", "keep-alive", "transfer-encoding", "content-length"}


def _handler(mcp_url: str, token: str) -> type[BaseHTTPRequestHandler]:
    upstream = urlsplit(mcp_url)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _headers(self) -> dict[str, str]:
            """Headers as sent, but our own address becomes the service's; a foreign Host or Origin stays foreign."""
            here = "{}:{}".format(*self.server.server_address[:2])
            kept = {k: v for k, v in self.headers.items() if k.lower() not in _OWN}
            renamed = {
                k: v.replace(here, upstream.netloc) if k.lower() in ("host", "origin") else v for k, v in kept.items()
            }
            return renamed | {"Authorization": f"Bearer {token}"}

        def _pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            there = http.client.HTTPConnection(upstream.netloc, timeout=90)
            with closing(there):
                there.request(self.command, self.path, body or None, self._headers())
                with there.getresponse() as answer:
                    self._hand_back(answer)

        def _hand_back(self, answer: http.client.HTTPResponse) -> None:
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in _OWN:
                    self.send_header(name, value)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            while piece := answer.read1(65_536):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.write(b"0\r\n\r\n")

        do_GET = do_POST = do_DELETE = do_OPTIONS = _pass_on

        def log_message(self, *words: object) -> None:
            """Nothing: a failing scenario says what it saw."""

    return Handler


class _Door(ThreadingHTTPServer):
    daemon_threads = False  # closing waits for the last answer

    def handle_error(self, request: object, client_address: object) -> None:
        """Nothing: the programs hang up when they have seen enough."""


@contextmanager
def door(mcp_url: str, token: str) -> Iterator[str]:
    """The address of a door to this tool address; closed afterwards."""
    server = _Door(("127.0.0.1", 0), _handler(mcp_url, token))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}{urlsplit(mcp_url).path}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
