"""The service on one machine: supervisor, private PostgreSQL and Valkey, home folder."""
