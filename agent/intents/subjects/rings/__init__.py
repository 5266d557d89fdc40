"""What rings, without a model: set, told, moved, paused and cancelled, and which of them is meant."""
