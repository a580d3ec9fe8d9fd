"""Python loads a module of this name at its start, from the folder that the environment of a run names."""

from tests.chaos.month.fast_clock import obey

obey()
