"""An advisor's proposal: rows of a search checked, then worded for the document a client receives."""
