"""The tests' streaming model: made voices, sentences, training and export (`python -m benchmarks.streaming.train`)."""
