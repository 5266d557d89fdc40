"""Tests of agent/intents/judging."""
