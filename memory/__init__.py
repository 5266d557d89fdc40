"""What lasts: the graph that is its own, and the journal of everything that happened."""
