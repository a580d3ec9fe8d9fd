"""The authorization server: accounts, sign-in, consent and tokens, and the only room that opens the token vault.

May import of `shared` the database, the outbox, `domain.plans`, the reader of text files and the ground floor; never
facts, providers, services.
"""
