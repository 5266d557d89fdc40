"""Sound to words and words to sound: microphone, voice activity, endpointing, recognition, synthesis, playback."""

import os

# onnxruntime >= 1.29 reads this before its first import only; every import of it lives below this package.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
