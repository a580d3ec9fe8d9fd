"""Card statements of any issuer: spending by month and category. Single lines are never stored."""
