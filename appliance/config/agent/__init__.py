"""Sections about the agent: its models and tools, its own work, and what it may reach."""
