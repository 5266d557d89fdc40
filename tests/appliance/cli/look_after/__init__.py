"""Tests of appliance/cli/look_after."""
