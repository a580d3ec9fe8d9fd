"""A month of the service in an hour: what people and operators do in it, what befalls it, and what it owes them."""
