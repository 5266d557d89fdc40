"""Tests of agent/intents/subjects/sums."""
