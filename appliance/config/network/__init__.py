"""Sections about who may come in, and about other machines."""
