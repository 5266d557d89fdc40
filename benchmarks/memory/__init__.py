"""Figures of the memory."""
