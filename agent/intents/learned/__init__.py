"""Wishes in words that no sentence file has: a small network names them and marks what they are of."""
