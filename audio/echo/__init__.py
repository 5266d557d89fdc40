"""She does not hear herself: cancellation, what of it is left over, and the choice of duplex mode."""
