"""One tool call from name and arguments to one answer: admission, quota, body, size limit, usage.

Knows no transport: `transport` and `rest` both call `dispatch`.
"""
