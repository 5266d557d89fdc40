"""Echo: cancellation of nakari's own voice, measurement of the residual, and the choice of duplex mode."""
