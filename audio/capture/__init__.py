"""Where sound comes from: a live microphone or a recording, its health, and the mute switch in front of both."""
