"""Flows that several packages need: a tool and a job, or a provider and the database together.

Its packages, each importing only from later ones: `operations`, `watches`, `search`, `connections`, `deadlines`,
`bookings`. `spending` and `proposals` import none of them; `own_programs` is below all. May import everything below. A
service never opens a server and never imports a tool.
"""
