"""Telemetry: log lines, metrics and traces, the same in every program.

Nothing here knows tools, runs or messages; the packages above count and name their work.
"""
