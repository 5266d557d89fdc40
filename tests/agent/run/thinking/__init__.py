"""Tests of agent/run/thinking."""
