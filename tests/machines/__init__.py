"""Ears and mind at two places, with an engine between them: what the way there does to what is said."""
