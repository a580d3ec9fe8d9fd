"""How an expert works with the tools: one text for each task, handed out as a prompt and as a skill."""
