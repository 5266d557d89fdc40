"""Tests of appliance/machines/standby."""
