"""Tests of appliance/config/sound."""
