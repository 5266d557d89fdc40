"""Tests of appliance/machines/joining."""
