"""Tests of appliance/machines/mind."""
