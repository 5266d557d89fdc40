"""Tests of the network that reads wishes."""
