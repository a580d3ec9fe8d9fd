"""Providers: the outside sources of seats, fares, stays, delays and rates, reached only through `ask`.

One folder per provider; adapters do not know each other, and their insides are reached through `ask` only.
"""
