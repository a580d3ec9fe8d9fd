"""The outside world, asked through one door: `ask` alone does cache, freshness, circuit breaking and outage marking.

One folder per provider; adapters do not know each other, and their insides are reached through `ask` only.
"""
