"""What is in an ONNX file, without a runtime for it: its weights and its metadata, by protobuf's wire format.

Sources: `onnx/onnx.proto` (ModelProto, GraphProto, TensorProto), protobuf.dev/programming-guides/encoding.
"""

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from audio.errors import ModelDamaged

GRAPH: Final = 7
"""Number of the field in a model."""

METADATA: Final = 14
"""Of a name and its value, in a model."""

INITIALIZER: Final = 5
"""Of a weight in a graph."""

DIMS: Final = 1
"""Of a size, in a tensor."""

DATA_TYPE: Final = 2
NAME: Final = 8
RAW_DATA: Final = 9

FLOAT: Final = 1
"""The data type float32; others are no weights."""

KEY, VALUE = 1, 2
"""In an entry of the metadata."""

Message: TypeAlias = bytes | mmap.mmap


def read_weights(file: Path) -> dict[str, NDArray[np.float32]]:
    """Return the float32 tensors in an ONNX file by their names. Raises `ModelDamaged` for what is no such file."""
    try:
        graphs = _all(file.read_bytes(), GRAPH)
        tensors = [tensor for graph in graphs for tensor in _all(graph, INITIALIZER)]
        floats = [each for each in tensors if FLOAT in _numbers(each, DATA_TYPE) and _all(each, RAW_DATA)]
        return {
            _all(each, NAME)[0].decode(): np.frombuffer(_all(each, RAW_DATA)[0], "<f4").reshape(_numbers(each, DIMS))
            for each in floats
        }
    except (IndexError, ValueError) as error:
        raise ModelDamaged(f"the voice detector's model {file} is damaged; run scripts/setup") from error


def read_metadata(file: Path) -> dict[str, str]:
    """Return the metadata of an ONNX file without reading its weights. Raises `ModelDamaged` where it breaks off."""
    try:
        with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
            entries = _all(data, METADATA)
        return {key.decode(): b"".join(_all(entry, VALUE)).decode() for entry in entries for key in _all(entry, KEY)}
    except (ValueError, IndexError, OSError) as error:
        raise ModelDamaged(
            f"{file} is no whole ONNX file ({error}); remove the folder and unpack the model again"
        ) from error


def _all(message: Message, wanted: int) -> list[bytes]:
    """Return the bytes of all fields with a number."""
    return [message[found] for number, found in _fields(message) if number == wanted and isinstance(found, slice)]


def _numbers(message: Message, wanted: int) -> list[int]:
    """Return what is in all fields with a number that are themselves numbers."""
    return [found for number, found in _fields(message) if number == wanted and isinstance(found, int)]


def _fields(message: Message) -> Iterator[tuple[int, slice | int]]:
    """Yield the number of each field, and its number of variable length or where its bytes are.

    Raises IndexError, ValueError for what is no message.
    """
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
            raise ValueError("it breaks off")
        yield key >> 3, slice(at, at + length)
        at += length


def _varint(message: Message, at: int) -> tuple[int, int]:
    """Return the number of variable length at a place, seven bits a byte, and where it ends."""
    value = shift = 0
    while shift < 70:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
    raise ValueError("it is something else")
