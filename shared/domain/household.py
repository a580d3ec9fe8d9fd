"""Members of one household in sentences."""


def add_member(name: str, member: str | None) -> str:
    """`Sapphire Preferred of Anna`; the name alone where the thing is the account holder's."""
    return f"{name} of {member}" if member else name
