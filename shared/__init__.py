"""The floor all programs stand on: services, providers, outbox, db, reference, documents, domain and the ground files.

Arrows go down only (see the import contracts in pyproject.toml); a new sub-package needs a decision on its floor.
"""
