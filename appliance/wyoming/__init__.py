"""Wyoming's server side: Home Assistant and others use the box as speech-to-text, voice and conversation agent."""
