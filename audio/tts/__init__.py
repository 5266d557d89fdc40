"""Voices: sound from one sentence."""
