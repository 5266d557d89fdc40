"""The weights in an ONNX file, without a runtime for it: of protobuf's wire format the few fields that hold them.

Sources: `onnx/onnx.proto` (ModelProto, GraphProto, TensorProto), protobuf.dev/programming-guides/encoding.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from audio.errors import ModelDamaged

GRAPH: Final = 7
"""Number of the field in a model."""
INITIALIZER: Final = 5
"""Of a weight in a graph."""
DIMS: Final = 1
"""Of a size, in a tensor."""
DATA_TYPE: Final = 2
NAME: Final = 8
RAW_DATA: Final = 9

FLOAT: Final = 1
"""The data type float32; others are no weights."""

Field: TypeAlias = tuple[int, bytes | int]
"""A number and what stands there; numbers of fixed length as their bytes."""


def read_weights(file: Path) -> dict[str, NDArray[np.float32]]:
    """Return the float32 tensors in an ONNX file by their names. Raises `ModelDamaged` for what is no such file."""
    try:
        graphs = _all(_fields(file.read_bytes()), GRAPH)
        tensors = [list(_fields(tensor)) for graph in graphs for tensor in _all(_fields(graph), INITIALIZER)]
        floats = [tensor for tensor in tensors if (DATA_TYPE, FLOAT) in tensor and _all(tensor, RAW_DATA)]
        return {_all(tensor, NAME)[0].decode(): _values(tensor) for tensor in floats}
    except (IndexError, ValueError) as error:
        raise ModelDamaged(f"the voice detector's model {file} is damaged; run scripts/setup") from error


def _values(tensor: list[Field]) -> NDArray[np.float32]:
    shape = [value for number, value in tensor if number == DIMS and isinstance(value, int)]
    return np.frombuffer(_all(tensor, RAW_DATA)[0], "<f4").reshape(shape)


def _all(fields: Iterator[Field] | list[Field], wanted: int) -> list[bytes]:
    """Return the bytes of all fields with a number."""
    return [value for number, value in fields if number == wanted and isinstance(value, bytes)]


def _fields(message: bytes) -> Iterator[Field]:
    """Yield the fields of a message in their order. Raises IndexError, ValueError for what is none."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        match key & 7:
            case 0:
                value, at = _varint(message, at)
                yield key >> 3, value
                continue
            case 1:
                length = 8
            case 2:
                length, at = _varint(message, at)
            case 5:
                length = 4
            case kind:
                raise ValueError(f"no kind of value: {kind}")
        if at + length > len(message):
            raise ValueError("a field is cut off")
        yield key >> 3, message[at : at + length]
        at += length


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """Return the number of variable length at a place, seven bits a byte, and where it ends."""
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
