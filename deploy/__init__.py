"""Running the service: the command line, the local set-up, the production files and the decisions behind them.

It is above every program: it may import and start them all, and nothing imports it.
"""
