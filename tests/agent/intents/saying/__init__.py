"""Tests of agent/intents/saying."""
