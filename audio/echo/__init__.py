"""It does not hear itself: cancellation, what of it is left over, and the choice of duplex mode."""
