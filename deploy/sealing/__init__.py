"""The keys that seal secrets: what hangs on each, and their rotation."""
