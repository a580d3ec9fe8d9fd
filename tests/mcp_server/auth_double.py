"""A stand-in for the auth server: it answers introspection for the tokens a test grants."""

from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from mcp_server.toolkit.context import Caller
from shared import clock
from shared.secrets import mint
from shared.settings import settings


@dataclass
class AuthDouble:
    """What it will answer, and what it was asked."""

    url: str = ""
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    status: int = 200

    def grant(self, caller: Caller, **other: Any) -> str:
        token = mint("awt_at_")
        self.answers[token] = {
            "active": True,
            "iss": settings().web_url,
            "sub": caller.public_id,
            "aud": settings().mcp_url,
            "client_id": "client-1",
            "client_name": "Claude",
            "scope": "mcp:read",
            "exp": int(clock.now().timestamp()) + 3600,
            "family": f"family-{len(self.answers)}",
            **({"administer": True} if caller.is_admin else {}),
            **other,
        }
        return token

    async def introspect(self, request: Request) -> Response:
        form = await request.form()
        self.asked.append(str(form["token"]))
        self.hosts.append(request.headers["host"])
        if self.status != 200:
            return Response(status_code=self.status)
        return JSONResponse(self.answers.get(str(form["token"]), {"active": False}))

    async def metadata(self, request: Request) -> Response:
        if self.status != 200:
            return Response(status_code=self.status)
        return JSONResponse({"issuer": settings().web_url, "token_endpoint": f"{settings().web_url}/oauth/token"})

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/oauth/introspect", self.introspect, methods=["POST"]),
                Route("/.well-known/oauth-authorization-server", self.metadata),
            ]
        )
