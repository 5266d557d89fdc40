"""The one place that chooses real implementations and joins them."""
