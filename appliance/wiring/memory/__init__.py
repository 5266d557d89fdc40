"""What lasts, put together: the state, the graph, and what is kept of the journal."""
