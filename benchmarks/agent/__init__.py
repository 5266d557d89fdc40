"""Figures of the agent."""
