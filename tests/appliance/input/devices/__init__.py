"""Tests of appliance/input/devices."""
