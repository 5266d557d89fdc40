"""One household on several machines, put together: which of them is what, and what joins them."""
