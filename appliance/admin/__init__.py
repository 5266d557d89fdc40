"""Keeping what it is: the memory from outside, backup and restore of everything."""
