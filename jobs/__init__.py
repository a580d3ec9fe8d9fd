"""Background work: a dispatcher that finds due rows, and workers that check, watch and deliver.

May import `shared`, never the other programs. To add a job, add a kind to `runs.py` and a module of its noun.
"""

from shared.db import accounts, trips  # noqa: F401 - foreign keys of the watched and mailed rows point at them
