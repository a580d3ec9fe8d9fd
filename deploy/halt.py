"""What ends a command: a fault goes in as one line with its mend, and the command line prints it and exits 1."""


class Halt(Exception):
    """The command cannot go on; the text says why and what to do."""
