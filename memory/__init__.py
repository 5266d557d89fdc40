"""What lasts: the graph that is hers, and the journal of everything that happened."""
