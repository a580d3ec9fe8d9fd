"""Accounts of people and agents: sign-up, sign-in, password reset, links by mail, API keys."""
