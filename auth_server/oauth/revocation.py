"""Revocation (RFC 7009): a client's own token goes in; the token, or the whole line it belongs to, is dead."""

from typing import TYPE_CHECKING

from authlib.oauth2.rfc6749 import InvalidRequestError
from authlib.oauth2.rfc7009 import RevocationEndpoint

from auth_server.oauth import tokens
from auth_server.oauth.grants import AUTH_METHODS
from shared import clock
from shared.db.oauth import AccessToken, RefreshToken
from shared.secrets import digest, well_formed

if TYPE_CHECKING:
    from auth_server.oauth.server import Application, ProtocolRequest, Server


class Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS = AUTH_METHODS
    server: "Server"

    def check_params(self, request: "ProtocolRequest", client: "Application") -> None:  # noqa: ARG002
        """An unknown token_type_hint is ignored (RFC 7009 2.2)."""
        if not request.form.get("token"):
            raise InvalidRequestError("Missing 'token'.")

    def query_token(self, token_string: str, token_type_hint: str | None) -> AccessToken | RefreshToken | None:  # noqa: ARG002
        if well_formed(token_string, tokens.ACCESS):
            return self.server.db.get(AccessToken, digest(token_string))
        if well_formed(token_string, tokens.REFRESH):
            return self.server.db.get(RefreshToken, digest(token_string))
        return None

    def revoke_token(self, token: AccessToken | RefreshToken, request: "ProtocolRequest") -> None:  # noqa: ARG002
        """An access token dies alone; a refresh token, even a rotated one, takes its family along."""
        if isinstance(token, RefreshToken):
            self.server.revoke_family(token.family_id, "revoked_by_client")
        elif token.revoked_at is None:
            token.revoked_at = clock.now()
            self.server.events.append({"token": token.token_hash})
