"""Figures of the whole box."""
