"""The operator's flows: audit of facts, corrections, the data mode, workers."""
