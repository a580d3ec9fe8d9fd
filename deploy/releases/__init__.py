"""What a release is made of: its archives, its notes and its bill of materials."""
