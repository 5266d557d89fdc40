"""Confirmation: what cannot be undone is asked first, and done once, on a plain yes."""
