"""What `award-travel doctor` checks, and how it reports it."""
