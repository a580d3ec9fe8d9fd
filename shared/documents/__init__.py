"""Files that people receive (calendar feeds, branded PDFs), route maps, and files they bring (statements, pictures).

Conversion only: nothing is stored here, and the only address that is fetched is that of a logo.
"""
