"""Texts as vectors."""
