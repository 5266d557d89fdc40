"""Tests of appliance/cli/talk."""
