"""Tests of appliance/cli/choose."""
