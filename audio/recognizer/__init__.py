"""Words from utterances: faster-whisper where a model is there, pocketsphinx as the last resort."""
