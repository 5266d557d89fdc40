"""What listens in a process of its own: it answers each sound from its standard input, and ends with that."""

import sys
from collections.abc import Callable, Mapping
from typing import BinaryIO, Final, TypeAlias

import msgspec

from audio.errors import RecognitionFailed
from audio.recognizer.apart import Told, read_frame, write_frame
from audio.recognizer.keyword_decoder import CommandSearch, KeywordDecoder, SpeechSearch

Part: TypeAlias = CommandSearch | SpeechSearch | KeywordDecoder

PARTS: Final[Mapping[str, Callable[[bytes], Part]]] = {
    "commands": lambda given: CommandSearch(msgspec.msgpack.decode(given, type=dict[str, list[str]])),
    "speech": lambda _: SpeechSearch(),
    "keywords": lambda given: KeywordDecoder(msgspec.msgpack.decode(given, type=list[str])),
}
"""Made of what the first frame holds."""


def serve(part: Part, asked: BinaryIO, told: BinaryIO) -> None:
    """Answer frame by frame until there is none: a sound is listened to, an empty one has it loaded."""
    while (sound := read_frame(asked)) is not None:
        try:
            answer = Told(msgspec.Raw(msgspec.msgpack.encode(_found(part, sound))))
        except RecognitionFailed as error:
            answer = Told(failed=str(error))
        write_frame(told, msgspec.msgpack.encode(answer))


def _found(part: Part, sound: bytes) -> object:
    if not sound:
        part.warm()
        return None
    return part.find(sound)


if __name__ == "__main__":
    given = read_frame(sys.stdin.buffer)
    if given is not None:
        serve(PARTS[sys.argv[1]](given), sys.stdin.buffer, sys.stdout.buffer)
