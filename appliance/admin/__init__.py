"""Administration: the graph from outside, backup and restore of everything."""
