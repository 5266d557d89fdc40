"""Tests of appliance/machines/ears."""
