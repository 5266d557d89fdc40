"""Tests of appliance/doctor/sound."""
