"""Readers of written text: letters, dates, clock times and amounts. What is ambiguous is None, never a guess."""
