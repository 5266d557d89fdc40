"""Time that comes again, and hours of quiet: pure functions of a moment and a zone."""
