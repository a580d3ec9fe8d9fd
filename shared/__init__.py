"""Code of all three programs: services, providers, outbox, db, reference, documents, domain and the ground files.

Imports only go down (import contract `floors` in pyproject.toml); a new sub-package needs a decision on its floor.
"""
