"""Tests of agent/intents/language."""
