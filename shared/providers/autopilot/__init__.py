"""Autopilot: a service of the operator's choice that watches prices of booked travel. Only written to."""
