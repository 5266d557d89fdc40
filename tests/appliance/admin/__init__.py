"""Keeping what she is."""
