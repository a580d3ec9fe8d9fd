"""Card statements: text of any issuer goes in; spending by month and category comes out, and nothing of any line."""
