"""Flows that more than one room needs: a tool and a job, or a provider and the database together.

Its rooms, each importing only from those after it: `operations`, `watches`, `search`, `connections`, `deadlines`,
`bookings`. `spending` and `proposals` stand alone, and `own_programs` lies below all. May import everything below. A
service never opens a server and never imports a tool.
"""
