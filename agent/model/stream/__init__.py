"""A model's answer as it arrives: server-sent events, deltas, tool calls and thoughts made into one message."""
