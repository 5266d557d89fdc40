"""Tests of agent/intents/follow_up."""
