"""Garbage collection of the long-running programs."""

import gc
from functools import lru_cache


@lru_cache(maxsize=1)
def freeze_startup_objects() -> None:
    """Once in a process, when everything permanent is built.

    What was built at the start stays for good, so no collection needs to walk it again: pauses are shorter, and a
    forked child copies fewer of its parent's pages. An answer is thousands of new objects, so collections are rarer.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
