"""Commands for the tables: migrations, what an upgrade would do, and what the sandbox invented."""
