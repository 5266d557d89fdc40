"""Tests of appliance/config/network."""
