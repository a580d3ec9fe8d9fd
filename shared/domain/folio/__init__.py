"""Audit of hotel bills (folios): lines, facts of the stay, findings and a dispute letter. Nothing is stored."""
