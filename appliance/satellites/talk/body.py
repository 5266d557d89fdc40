"""The sound of one reply on its way to one device: pieces of the voice's come in, one file or stream goes out."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Final

import av
import numpy as np

from appliance.satellites.interfaces import PlayedFormat
from audio.loops import until_set
from audio.pcm import Samples, wav_header
from audio.resampler import StreamResampler
from audio.speech import SpeechAudio

if TYPE_CHECKING:
    from av.container import OutputContainer

USUAL: Final = PlayedFormat("wav", 48_000, 2)
"""What begins to sound first where the device leaves it open: libmpv waits for bytes, and these are many a second."""

RAW: Final = PlayedFormat("raw", 16_000, 1)
"""For a device without a media player (`Device.send_audio`)."""

CODECS: Final = {"flac": ("flac", "flac"), "mp3": ("mp3", "libmp3lame")}
"""FFmpeg's container and codec of each format that is encoded."""

MP3_FRAME: Final = 1152
"""Samples, where an encoder takes any number."""

TYPES: Final = {"flac": "audio/flac", "mp3": "audio/mpeg", "wav": "audio/wav"}

LEAST_AHEAD: Final = 0.3
"""Seconds of sound that a device has before it plays them, else silence is sent: no player may run dry and end."""

SILENCE_SECONDS: Final = 0.1
"""Sent at a time."""

LONGEST_SILENCE: Final = 20.0
"""Seconds of it at a stretch, after which the sound ends: what comes later is a sound of its own."""

PIECE_SECONDS: Final = 0.5
"""Of sound encoded at a time: the loop is not held up."""


def wanted(formats: Sequence[PlayedFormat]) -> PlayedFormat:
    """Return what a device is sent, of what its player wants: for announcements if it says so, else the usual."""
    known = [each for each in formats if each.format in TYPES]
    said = next((each for each in known if each.is_for_announcements), next(iter(known), USUAL))
    return PlayedFormat(said.format, said.sample_rate or USUAL.sample_rate, said.channels or USUAL.channels)


class Body:
    """One sound. `put` and `finish` are the voice's side, `pieces` the device's; `clock` is in seconds.

    What has sounded is reckoned from the first byte on: a device plays at the pace of time, and silence fills what the
    voice leaves open, so that it never waits. Order: as put. Loss: what was not sent when it was cut.
    """

    def __init__(self, kind: PlayedFormat, clock: Callable[[], float], changed: asyncio.Event) -> None:
        """Be a sound of a kind; `changed` is set whenever something here has changed."""
        self.kind = kind
        self.name = f"{token_urlsafe(24)}.{kind.format}"
        """Unguessable; the last part of its url."""
        self.is_whole = False
        """Whether no more is put."""
        self.is_cut = False
        self.is_taken = False
        """Whether the device has come for it."""
        self.broken_at: float | None = None
        """Seconds on the clock at which the device took no more of it, though there was more."""
        self._clock = clock
        self._changed = changed
        self._waiting: deque[Samples] = deque()
        self._news = asyncio.Event()
        self._resampler = StreamResampler(kind.sample_rate, kind.sample_rate)
        self._began_at = 0.0
        self._sent = 0
        """Samples, silence among them."""
        self._silent_since = 0
        """Samples sent when the last of the voice's was."""
        self._put = 0
        """Samples of the voice's that wait."""

    @property
    def seconds(self) -> float:
        """All of it so far, silence included."""
        return (self._sent + self._put) / self.kind.sample_rate

    @property
    def ends_at(self) -> float:
        """Seconds on the clock at which a device without any delay has played all that was put so far."""
        return (self._began_at if self.is_taken else self._clock()) + self.seconds

    def put(self, audio: SpeechAudio) -> None:
        """Append sound."""
        if audio.sample_rate != self._resampler.source_rate:
            self._append(self._resampler.flush())
            self._resampler = StreamResampler(audio.sample_rate, self.kind.sample_rate)
        self._append(self._resampler.feed(audio.samples))
        self._tell()

    def finish(self) -> None:
        """Take that this was all."""
        if not self.is_whole:
            self._append(self._resampler.flush())
            self.is_whole = True
            self._tell()

    def cut(self) -> None:
        """Send nothing more."""
        self.is_cut = self.is_whole = True
        self._waiting.clear()
        self._put = 0
        self._tell()

    def take(self) -> None:
        """Take that the device has come for it."""
        self.is_taken, self._began_at = True, self._clock()
        self._tell()

    def broke_off(self) -> None:
        """Take that the device wants no more of it."""
        self.is_whole, self.broken_at = True, self._clock()
        self._tell()

    def whole(self) -> bytes:
        """Return the file, where all of it is known when the device comes."""
        encoder = Encoder(self.kind, self._put)
        return b"".join([*map(encoder.encode, self._take_waiting()), encoder.end()])

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the stream as it comes, never far behind its clock, until it is finished or cut."""
        encoder = Encoder(self.kind)
        while not self.is_cut:
            self._news.clear()
            for samples in self._take_waiting():
                if data := encoder.encode(samples):
                    yield data
            if self.is_whole:
                break
            if self._waiting:
                continue
            if self._sent - self._silent_since > LONGEST_SILENCE * self.kind.sample_rate:
                self.finish()
            elif await self._nothing_new():
                self._sent += (count := round(SILENCE_SECONDS * self.kind.sample_rate))
                if data := encoder.encode(np.zeros(count, np.int16)):
                    yield data
        if not self.is_cut:
            yield encoder.end()

    async def _nothing_new(self) -> bool:
        """Wait until something comes; return whether nothing did, and the device needs something."""
        left = self._began_at + self._sent / self.kind.sample_rate - LEAST_AHEAD - self._clock()
        await until_set(self._news, max(0.0, left))
        return not self._news.is_set()

    def _take_waiting(self) -> "list[Samples]":
        taken, size = [], round(PIECE_SECONDS * self.kind.sample_rate)
        while self._waiting:
            samples = self._waiting.popleft()
            taken += [samples[at : at + size] for at in range(0, len(samples), size)]
        if taken:
            self._sent, self._put = self._sent + self._put, 0
            self._silent_since = self._sent
        return taken

    def _append(self, samples: Samples) -> None:
        if len(samples) and not self.is_whole:
            self._waiting.append(samples)
            self._put += len(samples)

    def _tell(self) -> None:
        self._news.set()
        self._changed.set()


class Encoder:
    """Makes the bytes of one format of mono samples (int16, shape (n,), at the format's rate)."""

    def __init__(self, kind: PlayedFormat, samples: int | None = None) -> None:
        """Expect so many samples, None where nobody knows."""
        self._channels = kind.channels
        self._head = wav_header(kind.sample_rate, kind.channels, samples) if kind.format == "wav" else b""
        self._file = _Stream()
        self._container: OutputContainer | None = None
        if kind.format in CODECS:
            container, codec = CODECS[kind.format]
            self._container = av.open(self._file, "w", format=container)
            layout = "mono" if kind.channels == 1 else "stereo"
            stream = self._container.add_stream(codec, rate=kind.sample_rate, layout=layout)
            assert isinstance(stream, av.AudioStream)
            self._stream = stream
            self._sample_rate = kind.sample_rate
            self._resampler = av.AudioResampler(
                format=self._stream.format.name,
                layout=layout,
                rate=kind.sample_rate,
                frame_size=self._stream.codec_context.frame_size or MP3_FRAME,
            )

    def encode(self, samples: Samples) -> bytes:
        """Return what is ready; some samples may stay inside until more come."""
        if self._container is None:
            head, self._head = self._head, b""
            return head + np.repeat(samples, self._channels).astype("<i2").tobytes()
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples[None, :]), format="s16", layout="mono")
        frame.sample_rate = self._sample_rate
        self._mux(self._container, frame)
        return self._file.taken()

    def end(self) -> bytes:
        """Return the rest."""
        if self._container is None:
            return self._head
        self._mux(self._container, None)
        self._container.mux(self._stream.encode(None))
        self._container.close()
        return self._file.taken()

    def _mux(self, container: "OutputContainer", frame: "av.AudioFrame | None") -> None:
        for piece in self._resampler.resample(frame):
            container.mux(self._stream.encode(piece))


class _Stream:
    """A file that is only written on, and cannot be sought: FFmpeg writes no lengths into it afterwards."""

    def __init__(self) -> None:
        self._data = bytearray()

    def write(self, data: bytes) -> int:
        self._data += data
        return len(data)

    def taken(self) -> bytes:
        data = bytes(self._data)
        self._data.clear()
        return data
