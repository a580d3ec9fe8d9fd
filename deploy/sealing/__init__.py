"""The keys that seal secrets: what depends on each, and their rotation."""
