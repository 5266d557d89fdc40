"""Models of recognizers: how they are called, which are here, how they come, and which is fast enough for this box."""
