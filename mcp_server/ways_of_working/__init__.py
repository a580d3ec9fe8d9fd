"""How an expert works with the tools: one text for each task, offered as a prompt and as a skill."""
