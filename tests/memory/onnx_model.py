"""A real ONNX sentence model, made on the spot: a table of token vectors, and the tokenizer that belongs to it.

The file is written as protobuf by hand (the field numbers are those of onnx.proto), so that no test needs the `onnx`
package.
"""

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

FLOAT, INT64 = 1, 7
"""Element types of onnx.proto's TensorProto.DataType."""

VECTORS: Final[Mapping[str, tuple[float, float, float]]] = {
    "[PAD]": (9.0, 9.0, 9.0),
    "[UNK]": (0.0, 0.0, 0.0),
    "tea": (3.0, 4.0, 0.0),
    "coffee": (4.0, 3.0, 0.0),
    "dog": (0.0, 0.0, 2.0),
}
"""Each token's vector; what fills a batch up has one that would be noticed."""


def number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def piece(field: int, value: bytes | str) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def network(inputs: Sequence[str] = ("input_ids", "attention_mask", "token_type_ids"), *, pools: bool = False) -> bytes:
    """Return a model that looks each token up: last_hidden_state, and its plain mean where it `pools` by itself."""
    table = struct.pack(f"<{3 * len(VECTORS)}f", *(value for vector in VECTORS.values() for value in vector))
    tensor = number(1, len(VECTORS)) + number(1, 3) + number(2, FLOAT) + piece(8, "table") + piece(9, table)
    nodes = [piece(1, "table") + piece(1, inputs[0]) + piece(2, "last_hidden_state") + piece(4, "Gather")]
    outputs = [_value("last_hidden_state", FLOAT, ("batch", "sequence", 3))]
    if pools:
        axes = piece(1, "axes") + number(8, 1) + number(20, 7)
        keep = piece(1, "keepdims") + number(3, 0) + number(20, 2)
        mean = piece(1, "last_hidden_state") + piece(2, "sentence_embedding") + piece(4, "ReduceMean")
        nodes.append(mean + piece(5, axes) + piece(5, keep))
        outputs.append(_value("sentence_embedding", FLOAT, ("batch", 3)))
    graph = b"".join(piece(1, node) for node in nodes) + piece(2, "sentences") + piece(5, tensor)
    graph += b"".join(piece(11, _value(name, INT64, ("batch", "sequence"))) for name in inputs)
    graph += b"".join(piece(12, output) for output in outputs)
    return number(1, 8) + piece(7, graph) + piece(8, number(2, 13))


def write_model(folder: Path, model: bytes | None = None, place: str = "model.onnx") -> Path:
    """Write a whole model folder and return it."""
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    (folder / place).write_bytes(network() if model is None else model)
    words = {
        "version": "1.0",
        "pre_tokenizer": {"type": "Whitespace"},
        "model": {
            "type": "WordLevel",
            "vocab": {word: i for i, word in enumerate(VECTORS)},
            "unk_token": "[UNK]",
        },
    }
    (folder / "tokenizer.json").write_text(json.dumps(words), encoding="utf-8")
    return folder


def write_settings(folder: Path, name: str, settings: object) -> None:
    """Write one of the JSON files beside the network."""
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(settings), encoding="utf-8")


def _value(name: str, kind: int, shape: Sequence[str | int]) -> bytes:
    sizes = (number(1, size) if isinstance(size, int) else piece(2, size) for size in shape)
    tensor = number(1, kind) + piece(2, b"".join(piece(1, size) for size in sizes))
    return piece(1, name) + piece(2, piece(1, tensor))


def _varint(value: int) -> bytes:
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    data.append(value)
    return bytes(data)
