"""An advisor's proposal: rows of a search checked, then written for the document a client receives."""
