"""Clients that other people wrote, as they come from the package registries, against the running service."""
