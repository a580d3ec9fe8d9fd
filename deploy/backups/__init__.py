"""Backups of the service's own tables: written, restored, and restored as a rehearsal."""
