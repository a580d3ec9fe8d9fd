"""Telemetry: log lines, metrics and traces, alike in every program.

Nothing here knows what a tool, a run or a message is; the rooms above count and name what they do.
"""
