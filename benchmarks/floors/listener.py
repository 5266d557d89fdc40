"""The least that can hear: loads Silero and a Whisper model, decodes a second of silence, says so, and waits."""

import sys

import numpy as np
import onnxruntime
from faster_whisper import WhisperModel


def main(detector: str, recognizer: str) -> None:
    """Load both, decode once with each, say "listening", and wait for the end of standard input."""
    options = onnxruntime.SessionOptions()
    options.inter_op_num_threads = options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(detector, options, providers=["CPUExecutionProvider"])
    model = WhisperModel(recognizer, device="cpu", compute_type="int8", local_files_only=True)
    list(model.transcribe(np.zeros(16_000, np.float32), language="en", beam_size=1, temperature=0.0)[0])
    print("listening", len(session.get_inputs()), flush=True)
    sys.stdin.read()


main(*sys.argv[1:])
