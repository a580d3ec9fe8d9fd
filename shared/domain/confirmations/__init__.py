"""Booking confirmations that people forward by mail: flights and hotel stays read from the raw message (RFC 5322).

A message is a tree of parts: texts, pages, calendar entries, data for programs, PDFs, barcodes, passes. What each
states is joined field by field (`joining`, `mail_reader`); what two of them state differently is asked.
Everything here is a stranger's text. It is cut to size, read for the facts a booking has, and never obeyed; what is
ambiguous is left out and asked for, not guessed.
"""
