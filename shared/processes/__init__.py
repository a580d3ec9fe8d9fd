"""Processes of the programs: workers and their releases, readers that can be ended, and garbage collection."""
