"""Documents: calendar feeds and branded PDFs that people take away, statements and logos that they bring.

Plain data goes in and bytes come out, or the other way round; nothing is stored here, and no address is fetched but a
logo's.
"""
