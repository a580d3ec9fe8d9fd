"""AwardWallet: what it tracks of a person's programmes comes in, balances and statuses alone; nothing goes out."""
