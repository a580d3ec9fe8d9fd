"""Commands for the reviewed facts: their audit, corrections without a release, and their files."""
