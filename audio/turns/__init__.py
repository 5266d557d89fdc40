"""Turn-taking: voice activity, endpointing, completeness, evidence, barge-in."""
