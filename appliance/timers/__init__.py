"""Due timers ring beside the mind."""
