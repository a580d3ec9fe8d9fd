"""Commands for operators: accounts, invitations, providers, unfinished runs and messages, maintenance."""
