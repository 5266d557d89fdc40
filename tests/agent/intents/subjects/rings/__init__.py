"""Tests of agent/intents/subjects."""
