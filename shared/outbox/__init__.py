"""Messages to people: rows first (`enqueue`), words second (`wording`), one file per channel (`channels`).

A message row is written in the same transaction as the change that caused it.
"""
