"""Reviewed facts as files, each with source, dates and audit day; loaded whole, checked whole, frozen.

To add a fact, add a line to the CSV of its noun in `data/`; to add a kind of fact, add a row type in `rows/`.
"""
