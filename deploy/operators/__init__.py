"""Commands for operators: accounts, invitations, providers, runs and messages that did not finish, maintenance."""
