"""The mind, put together: what it knows, what it may do, and what it does unasked."""
