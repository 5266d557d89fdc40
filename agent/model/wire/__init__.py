"""Canonical messages on the wire: each provider's form and its rules."""
