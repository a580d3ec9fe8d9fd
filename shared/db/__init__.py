"""Tables and sessions: inside a call a session sees one account's rows of one data mode only (see `base`).

Models are grouped by noun. Raw SQL and bulk inserts live only in this package. Migrations are Alembic, run by
`award-travel migrate` under an advisory lock; servers and workers only compare versions.
"""
