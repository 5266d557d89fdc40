"""The house itself: who may import whom, what is installed, how the code reads."""
