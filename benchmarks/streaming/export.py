"""Writes trained weights as a streaming CTC model in the layout of NeMo that sherpa-onnx loads.

`model.onnx` with its metadata and `tokens.txt`; weights of the matrices as int8 with a scale for each row.
"""

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.streaming.sentences import tokens

BANDS: Final = 80
"""Mel bands that sherpa-onnx computes."""

SHIFT: Final = 16
"""Frames of 10 ms from one chunk to the next: 160 ms, four steps of the network."""

WINDOW: Final = 19
"""Frames of one chunk: the two convolutions see three more than its shift."""

Weights = Mapping[str, NDArray[np.float32]]
"""`mean`, `scale` (80,); `conv1.weight` (C, 80, 3), `conv2.weight` (H, C, 3) with their `.bias`; for each layer
`lstm.weight_ih_l0` (4 H, H) and so on as torch names and orders them; `out.weight` (V, H), `out.bias`."""


def write_model(weights: Weights, layers: int, folder: Path) -> None:
    """Write the model's files into a folder, which is made."""
    folder.mkdir(parents=True, exist_ok=True)
    onnx = importlib.import_module("onnx")
    graph = _Graph(onnx.helper, onnx.numpy_helper)
    hidden, vocabulary = weights["out.weight"].shape[1], weights["out.weight"].shape[0]
    _add_nodes(graph, weights, layers, hidden)
    made = graph.finished(layers, hidden, vocabulary)
    for name, value in _metadata(layers, hidden, vocabulary).items():
        entry = made.metadata_props.add()
        entry.key, entry.value = name, value
    onnx.checker.check_model(made)
    onnx.save(made, str(folder / "model.onnx"))
    lines = "".join(f"{token} {place}\n" for place, token in enumerate(tokens()))
    (folder / "tokens.txt").write_text(lines, encoding="utf-8")


def _metadata(layers: int, hidden: int, vocabulary: int) -> Mapping[str, str]:
    dimensions = {
        f"cache_last_{kind}_dim{at}": (layers, 1, hidden)[at - 1] for kind in ("channel", "time") for at in (1, 2, 3)
    }
    numbers = {"window_size": WINDOW, "chunk_shift": SHIFT, "subsampling_factor": 4, "vocab_size": vocabulary - 1}
    return {"model_type": "EncDecCTCModelBPE", **{name: str(each) for name, each in (numbers | dimensions).items()}}


class _Graph:
    """Nodes and initial values, as they are added."""

    def __init__(self, helper: Any, arrays: Any) -> None:
        self._helper, self._arrays = helper, arrays
        self._nodes: list[Any] = []
        self._values: list[Any] = []

    def value(self, name: str, array: NDArray[Any]) -> str:
        self._values.append(self._arrays.from_array(np.ascontiguousarray(array), name))
        return name

    def matrix(self, name: str, array: NDArray[np.float32]) -> str:
        """Add weights in steps of 1/127 of the largest of each row (the first axis); return their name."""
        rows = array.reshape(len(array), -1)
        scales = np.maximum(np.abs(rows).max(axis=1), 1e-8).astype(np.float32) / 127
        steps = np.round(rows / scales[:, None]).astype(np.int8).reshape(array.shape)
        zeros = np.zeros(len(array), np.int8)
        given = [self.value(f"{name}.{part}", each) for part, each in (("q", steps), ("s", scales), ("z", zeros))]
        return self.node("DequantizeLinear", given, name, axis=0)

    def node(self, kind: str, inputs: list[str], *outputs: str, **settings: Any) -> str:
        self._nodes.append(self._helper.make_node(kind, inputs, list(outputs), **settings))
        return outputs[0]

    def finished(self, layers: int, hidden: int, vocabulary: int) -> Any:
        of = self._helper.make_tensor_value_info
        whole, number = 1, 7
        cache = ["B", layers, 1, hidden]
        inputs = [of("audio_signal", whole, ["B", BANDS, "T"]), of("length", number, ["B"])]
        inputs += [of("cache_last_channel", whole, cache), of("cache_last_time", whole, cache)]
        inputs.append(of("cache_last_channel_len", number, ["B"]))
        outputs = [of("logprobs", whole, ["B", "U", vocabulary]), of("encoded_lengths", number, ["B"])]
        outputs += [of("cache_last_channel_next", whole, cache), of("cache_last_time_next", whole, cache)]
        outputs.append(of("cache_last_channel_next_len", number, ["B"]))
        graph = self._helper.make_graph(self._nodes, "streaming-household", inputs, outputs, self._values)
        opsets = [self._helper.make_opsetid("", 13)]
        return self._helper.make_model(graph, opset_imports=opsets, ir_version=8)


def _add_nodes(graph: _Graph, weights: Weights, layers: int, hidden: int) -> None:
    mean = graph.value("mean", weights["mean"].reshape(1, BANDS, 1))
    scale = graph.value("scale", weights["scale"].reshape(1, BANDS, 1))
    last = graph.node("Mul", [graph.node("Sub", ["audio_signal", mean], "centred"), scale], "features")
    for name in ("conv1", "conv2"):
        given = [
            last,
            graph.matrix(f"{name}.w", weights[f"{name}.weight"]),
            graph.value(f"{name}.b", weights[f"{name}.bias"]),
        ]
        last = graph.node(
            "Relu", [graph.node("Conv", given, f"{name}.out", strides=[2], kernel_shape=[3])], f"{name}.on"
        )
    last = graph.node("Transpose", [last], "steps", perm=[2, 0, 1])
    axis = graph.value("axis1", np.array([1], np.int64))
    states: dict[str, list[str]] = {"channel": [], "time": []}
    for layer in range(layers):
        ends = [graph.value(f"at{layer}.{part}", np.array([layer + part], np.int64)) for part in (0, 1)]
        first = []
        for kind in states:
            cut = graph.node("Slice", [f"cache_last_{kind}", *ends, axis], f"{kind}{layer}.cut")
            squeezed = graph.node("Squeeze", [cut, axis], f"{kind}{layer}.squeezed")
            first.append(graph.node("Transpose", [squeezed], f"{kind}{layer}.first", perm=[1, 0, 2]))
        last = _add_lstm(graph, weights, layer, hidden, (last, *first), states)
    for kind, parts in states.items():
        graph.node("Concat", parts, f"cache_last_{kind}_next", axis=1)
    product = graph.node("MatMul", [last, _turned(graph, "out.w", weights["out.weight"])], "product")
    scores = graph.node("Add", [product, graph.value("out.b", weights["out.bias"])], "scores")
    graph.node("Transpose", [graph.node("LogSoftmax", [scores], "by_step", axis=-1)], "logprobs", perm=[1, 0, 2])
    four = graph.value("four", np.array([4], np.int64))
    graph.node("Div", ["length", four], "encoded_lengths")
    graph.node("Add", ["cache_last_channel_len", "encoded_lengths"], "cache_last_channel_next_len")


def _turned(graph: _Graph, name: str, array: NDArray[np.float32]) -> str:
    return graph.node("Transpose", [graph.matrix(name, array)], f"{name}.turned", perm=[1, 0])


def _add_lstm(
    graph: _Graph, weights: Weights, layer: int, hidden: int, given: tuple[str, ...], states: dict[str, list[str]]
) -> str:
    """Add one layer and the states behind it; return its output (T, B, H)."""
    order = [0, 3, 1, 2]
    """ONNX orders the gates input, output, forget, cell; torch input, forget, cell, output."""
    axis = graph.value(f"lstm{layer}.axis", np.array([0], np.int64))
    matrices = []
    for kind in ("ih", "hh"):
        array = weights[f"lstm.weight_{kind}_l{layer}"].reshape(4, hidden, -1)[order].reshape(4 * hidden, -1)
        named = graph.matrix(f"lstm{layer}.{kind}", array)
        matrices.append(graph.node("Unsqueeze", [named, axis], f"lstm{layer}.{kind}.w"))
    biases = [weights[f"lstm.bias_{kind}_l{layer}"].reshape(4, hidden)[order].ravel() for kind in ("ih", "hh")]
    bias = graph.value(f"lstm{layer}.b", np.concatenate(biases)[None])
    steps, channel, time = given
    out, h, c = (f"lstm{layer}.{part}" for part in ("y", "h", "c"))
    graph.node("LSTM", [steps, *matrices, bias, "", channel, time], out, h, c, hidden_size=hidden)
    for kind, state in (("channel", h), ("time", c)):
        turned = graph.node("Transpose", [state], f"{kind}{layer}.turned", perm=[1, 0, 2])
        states[kind].append(graph.node("Unsqueeze", [turned, f"lstm{layer}.one"], f"{kind}{layer}.next"))
    graph.value(f"lstm{layer}.one", np.array([1], np.int64))
    return graph.node("Squeeze", [out, f"lstm{layer}.one"], f"lstm{layer}.out")
