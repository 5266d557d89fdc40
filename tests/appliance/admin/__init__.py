"""Keeping what the box is."""
