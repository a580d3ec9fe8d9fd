"""Documents people take away: calendar feeds and branded PDFs. Plain data in, bytes out."""
