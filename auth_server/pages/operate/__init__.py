"""Pages for those who run the service, at /operate: only administrators with a second factor see them."""
