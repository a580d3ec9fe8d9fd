"""What the MCP server serves next to tools: calendar feeds, shared PDFs and trips, the tool reference, the status page,
reports of wrong facts, connecting, mail.
"""
