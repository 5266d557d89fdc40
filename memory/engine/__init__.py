"""The engine between several machines: one log, keys, inboxes, topics and blobs, on NATS or on Redis."""
