"""Bare programs, the least that does a thing at all: what our figures are held against."""
