"""Which Whisper model hears on this box: chosen, fetched, measured."""
