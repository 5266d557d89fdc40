"""The device's side of ESPHome's native API: frames in the clear, and by Noise."""

import base64
from typing import Final, Protocol

from aioesphomeapi._frame_helper.packets import make_plain_text_packets
from noise.connection import NoiseConnection

PROTOCOL: Final = b"Noise_NNpsk0_25519_ChaChaPoly_SHA256"
PROLOGUE: Final = b"NoiseAPIInit\x00\x00"

Packet = tuple[int, bytes]
"""A message's number and its bytes."""


class BadFrame(Exception):
    """Something that is no frame; `answer` is what firmware sends before it closes."""

    def __init__(self, answer: bytes = b"") -> None:
        self.answer = answer


class Wire(Protocol):
    """Frames of one connection."""

    def received(self, data: bytes) -> tuple[list[Packet], bytes]:
        """Take bytes; return the packets that are whole, and what is to be sent at once. Raises BadFrame."""

    def sent(self, number: int, content: bytes) -> bytes:
        """Return a message as it goes over the wire."""


class Plain:
    """Without encryption: 0, length, number, content."""

    def __init__(self) -> None:
        self._rest = b""

    def received(self, data: bytes) -> tuple[list[Packet], bytes]:
        self._rest += data
        packets: list[Packet] = []
        while self._rest:
            if self._rest[0] != 0:
                raise BadFrame(self.sent(0, b""))  # firmware answers in its own protocol
            at = 1
            values: list[int] = []
            while len(values) < 2:
                value, shift = 0, 0
                while True:
                    if at >= len(self._rest):
                        return packets, b""
                    byte = self._rest[at]
                    at, value, shift = at + 1, value | (byte & 0x7F) << shift, shift + 7
                    if byte < 0x80:
                        break
                values.append(value)
            length, number = values
            if len(self._rest) < at + length:
                break
            packets.append((number, self._rest[at : at + length]))
            self._rest = self._rest[at + length :]
        return packets, b""

    def sent(self, number: int, content: bytes) -> bytes:
        return b"".join(make_plain_text_packets([(number, content)]))


class Noise:
    """Encrypted by a key of 32 bytes that both know: 1, length, content."""

    def __init__(self, key: str, name: str, mac: str) -> None:
        """`key` is in base64; `mac` as firmware writes it, in small letters without colons."""
        self._rest = b""
        self._greeting = b"\x01" + name.encode() + b"\0" + mac.encode() + b"\0"
        self._is_greeted = False
        self._noise = NoiseConnection.from_name(PROTOCOL)
        self._noise.set_as_responder()
        self._noise.set_psks(base64.b64decode(key))
        self._noise.set_prologue(PROLOGUE)
        self._noise.start_handshake()

    def received(self, data: bytes) -> tuple[list[Packet], bytes]:
        self._rest += data
        packets: list[Packet] = []
        answer = b""
        while len(self._rest) >= 3:
            if self._rest[0] != 1:
                raise BadFrame(frame(b"\x01Bad indicator byte"))
            length = int.from_bytes(self._rest[1:3], "big")
            if len(self._rest) < 3 + length:
                break
            content, self._rest = self._rest[3 : 3 + length], self._rest[3 + length :]
            if self._noise.handshake_finished:
                message = self._noise.decrypt(content)
                packets.append((int.from_bytes(message[:2], "big"), bytes(message[4:])))
            elif not self._is_greeted:
                self._is_greeted = True
                answer += frame(self._greeting)
            else:
                answer += self._handshake(content, answer)
        return packets, answer

    def _handshake(self, content: bytes, before: bytes) -> bytes:
        try:
            self._noise.read_message(content[1:])
        except Exception as error:  # of cryptography, for a key that is another
            raise BadFrame(before + frame(b"\x01Handshake MAC failure")) from error
        return frame(b"\0" + bytes(self._noise.write_message()))

    def sent(self, number: int, content: bytes) -> bytes:
        header = number.to_bytes(2, "big") + len(content).to_bytes(2, "big")
        return frame(bytes(self._noise.encrypt(header + content)))


def frame(content: bytes) -> bytes:
    """Return a frame of the encrypted protocol."""
    return b"\x01" + len(content).to_bytes(2, "big") + content
