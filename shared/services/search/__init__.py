"""Searches over providers: award seats, fares, hotel nights, hybrids, exchange rates; with coverage and freshness."""
