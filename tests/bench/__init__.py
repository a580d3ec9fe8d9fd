"""The bench: both servers beside the plainest thing that could be in their place, on one machine, in one run."""
