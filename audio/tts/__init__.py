"""Speech synthesis: voices, sentence splitting, and text as it is read aloud."""
