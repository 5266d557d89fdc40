"""What the ears are measured with: recordings, noise, words."""
