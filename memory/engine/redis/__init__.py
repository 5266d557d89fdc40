"""Redis as the engine."""
