"""`python -m mcp_server`: serves the tools until SIGTERM.

Processes that this one starts import this file again, so it imports nothing until it knows that it is the program:
the program of readers started with 25 MB and 0.3 s more.
"""

if __name__ == "__main__":
    from mcp_server.program import main

    main()
