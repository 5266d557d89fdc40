"""Speakers: how the network that tells voices apart was converted, its thresholds fitted, and what it does at home."""
