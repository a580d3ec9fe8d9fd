"""What the MCP server serves beside tools: calendar feeds, shared PDFs, the connect page, the inbound mail hook."""
