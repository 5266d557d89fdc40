"""Server-sent events: bytes as they come off the wire become the data of each event."""

from collections.abc import Iterator

MAX_EVENT = 4 * 1024 * 1024
"""Bytes of one event; a chat stream's are a few hundred."""


class EventStream:
    """The part of the event-stream format that model servers use: data, comments, any line ending, any cut.

    Lines are split at the bytes the format names and nowhere else: `str.splitlines` would also cut at U+2028 and
    U+0085, which JSON may hold unescaped.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> Iterator[str]:
        """Yield the data of each event that this piece completes. Raises ValueError for bad UTF-8 or no end."""
        lines = (self._rest + piece).replace(b"\r\n", b"\n")
        # A carriage return at the very end may be the first half of a line ending.
        cut = len(lines) - 1 if lines.endswith(b"\r") else len(lines)
        *whole, rest = lines[:cut].replace(b"\r", b"\n").split(b"\n")
        self._rest = rest + lines[cut:]
        if len(self._rest) + sum(map(len, self._data)) > MAX_EVENT:
            raise ValueError(f"an event of more than {MAX_EVENT} bytes")
        for line in whole:
            yield from self._take(line)

    def finish(self) -> Iterator[str]:
        """Yield the data of a last event that was not closed by an empty line."""
        for line in (self._rest, b""):
            yield from self._take(line)
        self._rest = b""

    def _take(self, line: bytes) -> Iterator[str]:
        if not line:
            if self._data:
                yield b"\n".join(self._data).decode()
            self._data = []
        elif line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
