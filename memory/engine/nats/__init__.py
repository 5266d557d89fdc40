"""NATS with JetStream as the engine."""
