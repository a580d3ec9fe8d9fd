"""AwardWallet: balances and statuses it tracks of a person's programmes. It is only read."""
