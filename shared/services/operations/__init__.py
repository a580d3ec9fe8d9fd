"""The operator's flows: audit of facts, corrections, watched files, reports, the data mode, workers."""
