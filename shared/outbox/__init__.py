"""Saying things to people: rows first (`post`), wording second (`messages`), one file per channel (`channels`).

A message row is written in the same transaction as the change that caused it.
"""
