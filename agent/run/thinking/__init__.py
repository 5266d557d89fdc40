"""The thought of a run: models asked in their order, bounds of patience, outages, summaries."""
