"""A bare Silero loop: takes a recording as a microphone would give it, and asks the model of each 32 ms."""

import sys
import time
import wave

import numpy as np
import onnxruntime


def main(detector: str, recording: str) -> None:
    """Say "listening", then run in real time until killed."""
    options = onnxruntime.SessionOptions()
    options.inter_op_num_threads = options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(detector, options, providers=["CPUExecutionProvider"])
    with wave.open(recording) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), np.int16).astype(np.float32) / 32768.0
    window = np.zeros((1, 64 + 512), np.float32)
    inputs = {"input": window, "h": np.zeros((1, 1, 128), np.float32), "c": np.zeros((1, 1, 128), np.float32)}
    print("listening", flush=True)
    due = time.monotonic()
    while True:
        for start in range(0, len(samples) - 511, 512):
            due += 0.032
            time.sleep(max(0.0, due - time.monotonic()))
            window[0, :64] = window[0, -64:]
            window[0, 64:] = samples[start : start + 512]
            _, inputs["h"], inputs["c"] = session.run(None, inputs)


main(*sys.argv[1:])
