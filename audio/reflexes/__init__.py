"""Words that act at once, beside the mind: which they are, and how they are spotted in sound."""
