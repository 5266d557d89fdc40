"""Which recognizers hear, in which order: Whisper on this machine, servers elsewhere, and how they are checked."""
