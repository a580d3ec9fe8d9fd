"""Readers of written dates and amounts. What is ambiguous is None, never a guess."""
