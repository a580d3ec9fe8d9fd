"""Collection pauses while facts are loaded, and continues whatever happens."""

import gc

import pytest

from shared.processes.garbage_collection import pause_collection


def test_collection_goes_on_after_a_pause_and_after_a_fault() -> None:
    with pause_collection():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ValueError, match="no facts"), pause_collection():
        raise ValueError("no facts")
    assert gc.isenabled()


def test_collection_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with pause_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
