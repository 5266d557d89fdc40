"""Tests of appliance/doctor/tools."""
