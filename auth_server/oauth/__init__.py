"""The OAuth 2.1 authorization server: clients, grants, tokens, introspection, revocation, OpenID Connect."""
