"""The parts of a release: its archives, its notes and its bill of materials."""
