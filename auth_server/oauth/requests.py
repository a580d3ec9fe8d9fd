"""OAuth requests as authlib reads them, and the parts of the server that its grants use."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from authlib.oauth2 import OAuth2Request
from authlib.oauth2.rfc6749 import OAuth2Payload

from auth_server.web.request_data import Pairs, RequestData
from auth_server.web.unit_of_work import UnitOfWork
from shared.settings import settings


class Payload(OAuth2Payload):
    def __init__(self, pairs: Pairs) -> None:
        self._first: dict[str, str] = {}
        self._all: dict[str, list[str]] = {}
        for name, value in pairs:
            self._first.setdefault(name, value)
            self._all.setdefault(name, []).append(value)

    @property
    def data(self) -> dict[str, str]:
        return self._first

    @property
    def datalist(self) -> dict[str, list[str]]:
        return self._all


class ProtocolRequest(OAuth2Request):
    """The request as authlib reads it: only the body on POST, only the query on GET, address from the settings."""

    def __init__(self, data: RequestData) -> None:
        headers = {"Authorization": data.authorization} if data.authorization else {}
        super().__init__(data.method, settings().web_url + data.path, headers=headers)
        self.payload = Payload(data.form if data.method == "POST" else data.query)
        self.resource: str | None = None
        self.family_id: str | None = None
        self.rotated: tuple[str, str] | None = None  # hash of a refresh token being retired, and its sealed successor
        self.retry_of: str | None = None  # the successor already issued for a repeated refresh token

    @property
    def form(self) -> dict[str, str]:
        return self.payload.data

    @property
    def args(self) -> dict[str, str]:
        return self.payload.data


@dataclass(frozen=True)
class Choices:
    """What a person allows an application, besides the address it asks for."""

    read_only: bool = False
    administer: bool = False


class GrantServer(Protocol):
    """What grants and endpoints use of `oauth.server.Server`, which imports them."""

    uow: UnitOfWork
    authenticated_at: datetime  # of the person who consents
    choices: Choices

    def validate_requested_scope(self, scope: str | None) -> None: ...
