"""Figures of several machines with one household."""
