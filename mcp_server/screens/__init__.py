"""What hosts draw beside an answer (MCP Apps): one HTML file per screen, their shared style and script, the loader."""
