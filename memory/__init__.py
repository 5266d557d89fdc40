"""Durable state: the graph, and the journal of everything that happened."""
