"""Recurrence and quiet hours: pure functions of a moment and a zone."""
