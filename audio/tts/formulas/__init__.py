"""Reads formulas aloud that are written in LaTeX."""
