"""Records of the household's log: what one transaction changed, who is the writer, what must be forgotten."""

import base64
import hashlib
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from memory.errors import StateUnusable
from memory.state.replica.recording import Change, Parameter, Parameters

VERSION: Final = 1
"""Of the format. A record of a newer one is refused whole."""

COMPRESSED_FROM: Final = 512
"""Bytes; shorter records are kept as they are."""

LEVEL: Final = 1
"""Of zlib (RFC 1950): the text of a statement comes again and again, which the fastest level finds too."""

_PLAIN, _COMPRESSED = b"J", b"Z"
_UNPACK: Final[Mapping[bytes, Callable[[bytes], bytes]]] = {_PLAIN: bytes, _COMPRESSED: zlib.decompress}
"""By the first byte of a record."""

Kind: TypeAlias = Literal["change", "epoch", "rewrite"]
"""`change`: a transaction. `epoch`: a machine becomes the writer, with what it changes in the schema. `rewrite`: every
copy is written anew, so that nothing is left of what was deleted."""


class Record(Struct, frozen=True):
    """One record. Each names the digest of the one before it, so that a gap or another log's record is seen."""

    kind: Kind
    epoch: int
    """Of the writer: rises with each machine that becomes it."""
    machine: str
    """The writer's name."""
    previous: str
    """`digest_of` the record before it, "" for the first."""
    changes: tuple[Change, ...] = ()
    log_only: bool = False
    """Of a `rewrite`: the file stays, its write-ahead log is emptied."""

    def encode(self) -> bytes:
        """Return it as bytes: JSON, compressed where large; blobs in base64 (RFC 4648)."""
        statements = list(dict.fromkeys(change.statement for change in self.changes))
        places = {statement: place for place, statement in enumerate(statements)}
        content = {
            "version": VERSION,
            "kind": self.kind,
            "epoch": self.epoch,
            "machine": self.machine,
            "previous": self.previous,
            "statements": statements,
            "changes": [[places[each.statement], each.rows, *map(_written, each.parameters)] for each in self.changes],
            **({"log_only": True} if self.log_only else {}),
        }
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode(errors="surrogatepass")
        return _PLAIN + text if len(text) < COMPRESSED_FROM else _COMPRESSED + zlib.compress(text, LEVEL)


def digest_of(record: bytes) -> str:
    """Return what the next record names this one by: half of its SHA-256 in hexadecimal digits."""
    return hashlib.sha256(record).hexdigest()[:32]


def decode(record: bytes, position: int) -> Record:
    """Return a record from its bytes. Raises `StateUnusable` where it is torn, no record, or of a newer version."""
    try:
        content = json.loads(_UNPACK[record[:1]](record[1:]).decode(errors="surrogatepass"))
        if content["version"] > VERSION:
            raise StateUnusable(
                f"record {position} of the household's log was written by a newer nakari (version "
                f"{content['version']}, this one knows {VERSION}); update nakari on this machine"
            )
        return _record(content)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, zlib.error) as error:
        what = f"record {position} of the household's log is torn, or none of nakari's"
        raise StateUnusable(f"{what}; restore the engine's files from a backup, or begin another household") from error


def _record(content: Mapping[str, Any]) -> Record:
    statements, kind = content["statements"], content["kind"]
    if kind not in ("change", "epoch", "rewrite"):
        raise ValueError(kind)
    changes = tuple(
        Change(statements[place], tuple(map(_read, sets)), rows) for place, rows, *sets in content["changes"]
    )
    return Record(
        kind,
        int(content["epoch"]),
        str(content["machine"]),
        str(content["previous"]),
        changes,
        bool(content.get("log_only")),
    )


def _written(parameters: Parameters) -> object:
    if isinstance(parameters, Mapping):
        return {name: _value(value) for name, value in parameters.items()}
    return [_value(value) for value in parameters]


def _value(value: Parameter) -> object:
    return [base64.b64encode(value).decode("ascii")] if isinstance(value, bytes) else value


def _read(parameters: Mapping[str, object] | Sequence[object]) -> Parameters:
    if isinstance(parameters, Mapping):
        return {name: _parameter(value) for name, value in parameters.items()}
    return tuple(map(_parameter, parameters))


def _parameter(value: object) -> Parameter:
    if isinstance(value, list):
        return base64.b64decode(value[0], validate=True)
    if value is None or isinstance(value, int | float | str):
        return value
    raise TypeError(type(value))
