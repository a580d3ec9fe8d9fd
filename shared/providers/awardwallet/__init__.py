"""AwardWallet: a person's balances and statuses that it tracks. Only read."""
