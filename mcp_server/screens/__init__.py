"""What hosts draw next to an answer (MCP Apps): one HTML file per screen, their shared style and script, the loader."""
