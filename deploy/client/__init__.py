"""The user's side of the command line: sign-in, tools and calls over REST and MCP."""
