"""Converts Resemblyzer's weights into audio/speakers/speaker_encoder.onnx, without torch and without the onnx package.

`python -m benchmarks.speakers.convert Resemblyzer-0.1.4-py3-none-any.whl` writes the file anew, byte for byte; the
wheel is what `pip download --no-deps resemblyzer==0.1.4` fetches.
"""

import hashlib
import io
import pickle
import struct
import sys
import zipfile
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from audio.speakers.encoder import MODEL

DIGEST: Final = "39373b86598fa3da9fcddee6142382efe09777e8d37dc9c0561f41f0070f134e"
"""SHA-256 of the wheel's `resemblyzer/pretrained.pt`."""

LAYERS: Final = 3
HIDDEN: Final = 256
BANDS: Final = 40
OPSET: Final = 17

FLOAT, FLOAT16 = 1, 10
"""Element types of ONNX tensors."""

Weights = Mapping[str, NDArray[np.float32]]


class _Tensors(pickle.Unpickler):
    """Reads what torch.save wrote before version 1.6, and nothing that could do anything."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.storages: dict[str, NDArray[np.float32]] = {}

    def find_class(self, module: str, name: str) -> Any:
        """Return one of three harmless stand-ins; raises UnpicklingError for anything else."""
        known = {"_rebuild_tensor_v2": _view, "FloatStorage": "float32", "OrderedDict": OrderedDict}
        if name not in known:
            raise pickle.UnpicklingError(f"{module}.{name} is no part of a tensor")
        return known[name]

    def persistent_load(self, pid: Any) -> Any:
        """Return the storage of this name, to be filled when its bytes are read."""
        _, _, key, _, count, *_ = pid
        return self.storages.setdefault(key, np.zeros(count, np.float32))


def _view(storage: NDArray[np.float32], offset: int, size: tuple[int, ...], *_: object) -> NDArray[np.float32]:
    return storage[offset : offset + int(np.prod(size))].reshape(size)


def weights_in(wheel: Path) -> Weights:
    """Return the tensors of the encoder by name. Raises ValueError for another file than the known one."""
    data = zipfile.ZipFile(wheel).read("resemblyzer/pretrained.pt")
    if hashlib.sha256(data).hexdigest() != DIGEST:
        raise ValueError(f"{wheel} holds other weights than those of Resemblyzer 0.1.4")
    file = io.BytesIO(data)
    for _ in range(3):  # magic number, version, byte order
        _Tensors(file).load()
    reader = _Tensors(file)
    state = reader.load()["model_state"]
    for key in _Tensors(file).load():
        (count,) = struct.unpack("<q", file.read(8))
        reader.storages[key][:] = np.frombuffer(file.read(4 * count), "<f4")
    return dict(state)


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def _field(number: int, value: int | str | bytes) -> bytes:
    """Return one field of a protobuf message."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _tensor(name: str, values: NDArray[np.floating | np.int64]) -> bytes:
    kind = {"float16": FLOAT16, "int64": 7}[values.dtype.name]
    shape = b"".join(_field(1, each) for each in values.shape)
    return _field(5, shape + _field(2, kind) + _field(8, name) + _field(9, values.tobytes()))


def _node(kind: str, inputs: list[str], outputs: list[str], **attributes: int | list[int]) -> bytes:
    parts = [_field(1, each) for each in inputs] + [_field(2, each) for each in outputs] + [_field(4, kind)]
    for name, value in attributes.items():
        if isinstance(value, int):
            told = _field(3, value) + _field(20, 2)
        else:
            told = b"".join(_field(8, each) for each in value) + _field(20, 7)
        parts.append(_field(5, _field(1, name) + told))
    return _field(1, b"".join(parts))


def _described(name: str, *shape: str | int) -> bytes:
    sizes = b"".join(_field(1, _field(2 if isinstance(each, str) else 1, each)) for each in shape)
    return _field(1, name) + _field(2, _field(1, _field(1, FLOAT) + _field(2, sizes)))


def _gates(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return torch's input, forget, cell, output in ONNX's order: input, output, forget, cell."""
    i, f, c, o = np.split(values, 4)
    return np.concatenate([i, o, f, c])


def model_of(weights: Weights) -> bytes:
    """Return the network: (windows, frames, 40) to (windows, 256), not yet of length one; weights kept in 16 bits."""
    nodes = [_node("Transpose", ["mels"], ["x0"], perm=[1, 0, 2])]
    kept: list[bytes] = [_tensor("one", np.array([1], np.int64)), _tensor("zero", np.array([0], np.int64))]

    def keep(name: str, values: NDArray[np.float32]) -> str:
        kept.append(_tensor(f"{name}16", values.astype(np.float16)))
        nodes.append(_node("Cast", [f"{name}16"], [name], to=FLOAT))
        return name

    for layer in range(LAYERS):
        w = keep(f"w{layer}", _gates(weights[f"lstm.weight_ih_l{layer}"])[None])
        r = keep(f"r{layer}", _gates(weights[f"lstm.weight_hh_l{layer}"])[None])
        both = [_gates(weights[f"lstm.bias_{kind}_l{layer}"]) for kind in ("ih", "hh")]
        b = keep(f"b{layer}", np.concatenate(both)[None])
        nodes.append(_node("LSTM", [f"x{layer}", w, r, b], [f"y{layer}", f"h{layer}"], hidden_size=HIDDEN))
        nodes.append(_node("Squeeze", [f"y{layer}", "one"], [f"x{layer + 1}"]))
    nodes.append(_node("Squeeze", [f"h{LAYERS - 1}", "zero"], ["last"]))
    linear = [keep("linear", weights["linear.weight"]), keep("bias", weights["linear.bias"])]
    nodes.append(_node("Gemm", ["last", *linear], ["raw"], transB=1))
    nodes.append(_node("Relu", ["raw"], ["embedding"]))
    graph = b"".join([*nodes, _field(2, "speaker encoder"), *kept])
    graph += _field(11, _described("mels", "windows", "frames", BANDS))
    graph += _field(12, _described("embedding", "windows", HIDDEN))
    doc = "Resemblyzer 0.1.4, (c) Resemble AI, Apache-2.0; changed: converted to ONNX, weights rounded to 16 bits"
    return _field(1, 8) + _field(2, "nakari") + _field(6, doc) + _field(7, graph) + _field(8, _field(2, OPSET))


def main() -> None:
    """Write the file."""
    MODEL.write_bytes(model_of(weights_in(Path(sys.argv[1]))))
    print(f"{MODEL}: {MODEL.stat().st_size} bytes")


if __name__ == "__main__":
    main()
