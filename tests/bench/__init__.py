"""The bench: both servers next to the plainest thing that could be in their place, on one machine, in one run."""
