"""Tests of memory/graph/dump."""
