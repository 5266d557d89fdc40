"""Commands about what lasts: the memory, what waits and what happened, backups."""
