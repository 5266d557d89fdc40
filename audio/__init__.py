"""Sound to words and words to sound: microphone, voice activity, endpointing, recognition, synthesis, playback."""

import os

# onnxruntime >= 1.29 reads this before its first import only; every import of it lives below this package.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
# numpy's BLAS reads this at its import. What is multiplied here is small; a second thread of it would spin for 30 ms
# after each product: a quiet room cost 1.5 to 2 times as much.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
