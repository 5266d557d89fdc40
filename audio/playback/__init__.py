"""Audio output: a loudspeaker, or a WAV file in its place."""
