"""The audit of hotel bills: text goes in; lines, facts of the stay, findings and a letter come out. Nothing is kept."""
