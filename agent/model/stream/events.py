"""What servers send, whatever its form, cut into pieces of JSON and turned into the chunks of OpenAI's stream."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from memory.json_value import Json, fields, objects

MAX_EVENT: Final = 4 * 1024 * 1024
"""Bytes of one event; a chat stream's are a few hundred."""

BOM: Final = b"\xef\xbb\xbf"
"""May stand before the first line, which is then not part of it."""

_BEAT: Final = re.compile(r"[\w-]*|\[\]")

_OF_LOADING: Final = ("load", "unload")
"""Reasons for which a line of Ollama's is `done` that ends no answer: the model only came into memory, or left it."""


class EventStream:
    """The part of the event-stream format that model servers use: data, comments, any line ending, any cut.

    Whatever the head calls it, an object a line is read too, and one over many lines, which is then all there is.
    Lines are split at the bytes the format names and nowhere else: `str.splitlines` would also cut at U+2028 and
    U+0085, which JSON may hold unescaped.
    """

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[bytes] = []
        self._size = 0
        self._is_first = True
        self._is_one = False
        """Whether an object over many lines has begun."""

    def feed(self, piece: bytes) -> Iterator[str]:
        """Yield the data of each event that this piece completes. Raises ValueError for one without end."""
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
        yield from self._take(bytes(self._rest.rstrip(b"\r")))
        yield from self._flush()
        self._rest.clear()

    def _whole_lines(self) -> list[bytes]:
        # A carriage return at the very end may be the first half of a line ending.
        held = b"\r" if self._rest.endswith(b"\r") else b""
        ended = bytes(self._rest.removesuffix(held)).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *whole, rest = ended.split(b"\n")
        self._rest = bytearray(rest + held)
        return whole

    def _take(self, line: bytes) -> Iterator[str]:
        if not line and not self._is_one:
            yield from self._flush()
        elif line.startswith(b"data:"):
            if len(self._data) == 1 and _is_object(self._data[0]):  # a gateway left out the empty line behind it
                yield from self._flush()
            self._hold(line)
        elif self._is_one or line.startswith(b"{"):
            self._is_one = self._is_one or not _is_object(line)
            self._hold(line)
            if not self._is_one:
                yield from self._flush()

    def _hold(self, line: bytes) -> None:
        self._data.append(line[5:].removeprefix(b" ") if line.startswith(b"data:") else line)
        self._size += len(line) + 1  # an empty line of data takes room too

    def _flush(self) -> Iterator[str]:
        if self._data:
            yield b"\n".join(self._data).decode("utf-8", "replace")  # so says the format
        self._data, self._size = [], 0


def _is_object(line: bytes) -> bool:
    return line.startswith(b"{") and line.rstrip().endswith(b"}")


def is_beat(data: str) -> bool:
    """Whether an event only keeps the connection alive: it is blank, an empty list, or a word such as `keep-alive`."""
    return _BEAT.fullmatch(data.strip()) is not None


def is_complaint(said: Mapping[str, Json]) -> bool:
    """Whether it is an error: OpenAI's, or in a form of its own as of vLLM's older streams, FastAPI, and MiniMax."""
    told = {**said, **fields(said.get("base_resp"))}
    words = next((text for key in ("message", "detail", "error_msg", "status_msg") if (text := told.get(key))), "")
    is_bare = isinstance(words, str) and bool(words.strip()) and not (said.get("choices") or said.get("usage"))
    return bool(said.get("error")) or is_bare


def in_openai_form(said: Mapping[str, Json], calls: int) -> tuple[Mapping[str, Json], int]:
    """Return what a server said as a chunk of OpenAI's, and how many calls came until then, these included.

    That is a line of Ollama's, or what is a chunk already. Each of Ollama's calls is whole; what it says of their
    places starts anew in each line.
    """
    if "choices" in said or not said.keys() & {"message", "response", "done"}:
        return said, calls
    message = fields(said.get("message")) or said
    made = objects(message.get("tool_calls"))
    numbered = [{**call, "index": calls + number} for number, call in enumerate(made)]
    delta: dict[str, Json] = {
        "content": message.get("content") or said.get("response"),  # the latter of /api/generate
        "reasoning": message.get("thinking"),
        "tool_calls": [*numbered],
    }
    choice: dict[str, Json] = {"delta": {key: value for key, value in delta.items() if value}}
    usage: dict[str, Json] = {}
    reason = said.get("done_reason")
    if said.get("done") and reason not in _OF_LOADING:
        choice["finish_reason"] = reason or "stop"
        usage = {"prompt_tokens": said.get("prompt_eval_count"), "completion_tokens": said.get("eval_count")}
    return {"choices": [choice], **({"usage": usage} if usage else {})}, calls + len(made)
