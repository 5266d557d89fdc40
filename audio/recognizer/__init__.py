"""Speech recognition: faster-whisper where a model is installed, pocketsphinx as the last resort."""
