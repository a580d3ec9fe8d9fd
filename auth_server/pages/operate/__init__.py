"""Pages for those who run the service, at /operate: administrators with a second factor see them, no one else."""
