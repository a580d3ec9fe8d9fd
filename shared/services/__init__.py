"""Flows that more than one room needs: a tool and a job, or a provider and the database together.

May import every floor below. A service never opens a server and never imports a tool.
"""
