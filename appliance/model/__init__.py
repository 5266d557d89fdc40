"""Which models think and compare: chosen, switched, fetched."""
