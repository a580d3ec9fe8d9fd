"""What the three programs share: services, providers, outbox, db, reference, documents, domain and the ground files.

Imports go downwards only (import contract `floors` in pyproject.toml); a new sub-package needs a decision on its floor.
"""
