"""From chunks to turns: voice activity, endpointing, completeness, evidence, barge-in."""
