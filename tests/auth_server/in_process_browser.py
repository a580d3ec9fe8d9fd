"""One person's browser and one application's back end: steps of the flow as calls, with every detail replaceable."""

import base64
import hashlib
import html
import re
from http.cookiejar import DefaultCookiePolicy
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.testclient import TestClient

BASE = "http://127.0.0.1:8000"
PASSWORD = "correct horse battery"
CALLBACK = "http://127.0.0.1:18250/callback"
HOSTED = "https://claude.ai/api/mcp/auth_callback"  # of an application whose consent is remembered without a page
VERIFIER = "v" * 21 + "-._~" + "0123456789" * 3 + "abcdefghi"
RESOURCE = "http://127.0.0.1:8001/mcp"
BASIC = "Basic " + base64.b64encode(b"award-travel-services:test-service-secret-0123456789-01").decode()
FORM = {"content-type": "application/x-www-form-urlencoded"}


def challenge(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def hidden(page: str, name: str) -> str:
    match = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert match is not None, f"no field {name} on the page"
    return html.unescape(match.group(1))


def back(response: Any) -> dict[str, str]:
    """The parameters of a redirect to the application."""
    return dict(parse_qsl(urlsplit(response.headers["location"]).query, keep_blank_values=True))


class Browser:
    """Cookies are kept by hand, so that several people can share one application under test."""

    def __init__(self, host: TestClient, email: str = "", public_id: str = "") -> None:
        # Where it kept cookies, a browser without one could send that of another one at the same moment.
        host.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=()))
        self.host, self.email, self.public_id = host, email, public_id
        self.cookie: str | None = None
        self.known: str | None = None  # by which the browser is known when no one is signed in

    def send(self, method: str, path: str, **more: Any) -> Any:
        headers = dict(more.pop("headers", None) or {})
        cookies = [
            f"{name}={value}" for name, value in (("award", self.cookie), ("award-browser", self.known)) if value
        ]
        if cookies:
            headers["cookie"] = "; ".join(cookies)
        answer = self.host.request(method, path, headers=headers, **more)
        cookie = answer.cookies.get("award")
        if cookie is not None:
            self.cookie = cookie
        self.known = answer.cookies.get("award-browser") or self.known
        return answer

    def get(self, path: str, **more: Any) -> Any:
        return self.send("GET", path, **more)

    def post(self, path: str, data: dict[str, str], **more: Any) -> Any:
        return self.send("POST", path, data=data, **more)

    # a person

    def sign_in(self, password: str = PASSWORD, **changed: str) -> Any:
        page = self.get("/signin").text
        fields = {"csrf": hidden(page, "csrf"), "return_to": "", "email": self.email, "password": password}
        return self.post("/signin", fields | changed)

    def authorize(self, client_id: str, **changed: Any) -> Any:
        return self.get(f"/oauth/authorize?{urlencode(query(client_id, **changed), doseq=True)}")

    def answer(self, page: Any, action: str = "allow", **changed: str) -> Any:
        fields = {"csrf": hidden(page.text, "csrf"), "query": hidden(page.text, "query"), "action": action}
        return self.post("/oauth/consent", fields | changed)

    def code(self, client_id: str, **changed: Any) -> str:
        """Signs in and allows as needed; the code the application would receive."""
        if self.get("/dashboard").status_code != 200:
            assert self.sign_in().status_code == 303
        answer = self.authorize(client_id, **changed)
        if answer.headers.get("location", "").startswith("/signin?"):
            assert self.sign_in().status_code == 303
            answer = self.authorize(client_id, **changed)
        if answer.status_code == 200:
            answer = self.answer(answer)
        return back(answer)["code"]

    # the application

    def register(self, *uris: str, **more: Any) -> str:
        body = {"client_name": "Test application", "redirect_uris": list(uris or [CALLBACK]), **more}
        answer = self.host.post("/oauth/register", json=body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["client_id"])

    def redeem(self, client_id: str, code: str, **changed: Any) -> Any:
        fields = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": CALLBACK,
            "client_id": client_id,
            "code_verifier": VERIFIER,
        }
        return self.token(fields | changed)

    def refresh(self, client_id: str, refresh_token: str, **changed: Any) -> Any:
        fields = {"grant_type": "refresh_token", "refresh_token": refresh_token, "client_id": client_id}
        return self.token(fields | changed)

    def token(self, fields: dict[str, Any], **more: Any) -> Any:
        """A value of None leaves the field out."""
        return self.host.post("/oauth/token", data={k: v for k, v in fields.items() if v is not None}, **more)

    def tokens(self, client_id: str | None = None, **changed: Any) -> dict[str, Any]:
        """The whole flow; the token answer, with the client's id next to it."""
        client_id = client_id or self.register()
        answer = self.redeem(client_id, self.code(client_id, **changed))
        assert answer.status_code == 200, answer.text
        return {**answer.json(), "client_id": client_id}

    def introspect(self, token: str) -> dict[str, Any]:
        answer = self.host.post("/oauth/introspect", data={"token": token}, headers={"authorization": BASIC})
        assert answer.status_code == 200, answer.text
        claims: dict[str, Any] = answer.json()
        return claims

    def alive(self, token: str) -> bool:
        return bool(self.introspect(token)["active"])


def query(client_id: str, **changed: Any) -> dict[str, Any]:
    """A good authorization request; a value of None leaves the parameter out."""
    fields = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": CALLBACK,
        "scope": "mcp:read openid email",
        "state": "st&te= 1",
        "code_challenge": challenge(VERIFIER),
        "code_challenge_method": "S256",
    }
    return {k: v for k, v in (fields | changed).items() if v is not None}
