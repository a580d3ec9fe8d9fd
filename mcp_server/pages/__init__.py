"""What the MCP server serves beside tools: calendar feeds, shared PDFs, reports of wrong facts, connecting, mail."""
