"""How long the reference data take to load."""

from shared.reference.load import load


def test_the_whole_set_loads_within_its_time() -> None:
    """A bound far above the 0.4 s it is built for, so that only a change of kind can break it."""
    assert load().seconds < 4
