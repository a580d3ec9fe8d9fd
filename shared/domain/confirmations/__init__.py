"""Booking confirmations as people forward them: the bytes of a mail go in, the flights and stays it states come out.

Everything here is a stranger's text. It is cut to size, read for the facts a booking has, and never obeyed; what is
ambiguous is left out and asked for, not guessed.
"""
