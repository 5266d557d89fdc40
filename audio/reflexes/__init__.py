"""Reflexes: words that act at once, without the agent; keyword spotting and the wake word."""
