"""Tests of appliance/cli/remember."""
