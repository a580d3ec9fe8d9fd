"""The authorization server: accounts, sign-in, consent and tokens; the only program that reads token tables.

Its packages, each importing only from later ones: `pages` (HTML for people), `oauth` (the protocol), `accounts`
(accounts and their credentials), `web` (HTTP, sessions, flows, unit of work); `sweep` deletes what has expired.

Of `shared` it imports the database, the outbox, pure rules of `domain`, readers of files and pictures, and the ground
files; never providers, services or reference data.
"""
