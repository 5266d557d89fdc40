"""Tests of appliance/cli/listen."""
