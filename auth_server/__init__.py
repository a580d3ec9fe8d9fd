"""The authorization server: accounts, sign-in, consent and tokens, and the only room that opens the token vault.

May import the database, the outbox, `domain.plans` and the ground floor of `shared`; never facts, providers, services.
"""
