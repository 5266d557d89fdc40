"""Several machines of one household."""
