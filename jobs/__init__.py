"""Background work: a dispatcher that finds due rows, and workers that check, watch and deliver.

May import `shared`, never the other programs. To add a job, add a kind to `shared/db/run_kinds.py`, a module of its
noun in `handlers`, and a line in `runs.py`.
"""

from shared.db import accounts, trips  # noqa: F401 - foreign keys of the watched and mailed rows point at them
