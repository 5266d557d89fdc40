"""Keeping what she is: her memory from outside, backup and restore of everything."""
