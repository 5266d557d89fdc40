"""Tests of agent/intents/reading."""
