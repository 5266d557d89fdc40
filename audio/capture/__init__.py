"""Audio input: a live microphone or a recording, device faults, and the mute switch."""
