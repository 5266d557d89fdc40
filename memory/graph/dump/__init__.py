"""A whole graph as a file: written, read, compared, its values without loss."""
