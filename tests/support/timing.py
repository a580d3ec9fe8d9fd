"""Bounds of time on a machine others use too: an attempt goes in; whether one of a few keeps within it comes out."""

import gc
from collections.abc import Callable


def once(attempt: Callable[[], bool], tries: int = 5) -> bool:
    """Another program may hold up an attempt or two, a slow program holds up all of them."""
    gc.freeze()  # as the servers do: a look for garbage does not walk through all that was loaded before
    try:
        return any(attempt() for _ in range(tries))
    finally:
        gc.unfreeze()
