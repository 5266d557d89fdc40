"""Server-sent events: bytes as they come off the wire become the data of each event."""

from collections.abc import Iterator

MAX_EVENT = 4 * 1024 * 1024
"""Bytes of one event; a chat stream's are a few hundred."""


BOM = b"\xef\xbb\xbf"
"""May stand before the first line, which is then not part of it."""


class EventStream:
    """The part of the event-stream format that model servers use: data, comments, any line ending, any cut.

    Lines are split at the bytes the format names and nowhere else: `str.splitlines` would also cut at U+2028 and
    U+0085, which JSON may hold unescaped.
    """

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[bytes] = []
        self._size = 0
        self._is_first = True

    def feed(self, piece: bytes) -> Iterator[str]:
        """Yield the data of each event that this piece completes. Raises ValueError for bad UTF-8 or no end."""
        is_waiting = self._rest.endswith(b"\r")
        self._rest += piece
        if self._is_first and len(self._rest) >= len(BOM):
            self._is_first = False
            self._rest = self._rest.removeprefix(BOM)
        if is_waiting or b"\n" in piece or b"\r" in piece:
            for line in self._whole_lines():
                yield from self._take(line)
        if len(self._rest) + self._size > MAX_EVENT:
            raise ValueError(f"an event of more than {MAX_EVENT} bytes")

    def finish(self) -> Iterator[str]:
        """Yield the data of a last event that was not closed by an empty line."""
        for line in (bytes(self._rest.rstrip(b"\r")), b""):
            yield from self._take(line)
        self._rest.clear()

    def _whole_lines(self) -> list[bytes]:
        # A carriage return at the very end may be the first half of a line ending.
        held = b"\r" if self._rest.endswith(b"\r") else b""
        ended = bytes(self._rest.removesuffix(held)).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *whole, rest = ended.split(b"\n")
        self._rest = bytearray(rest + held)
        return whole

    def _take(self, line: bytes) -> Iterator[str]:
        if not line:
            if self._data:
                yield b"\n".join(self._data).decode()
            self._data, self._size = [], 0
        elif line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
            self._size += len(line) + 1  # an empty line of data takes room too
