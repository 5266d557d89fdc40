"""A cache of spoken sentences on disk, for when no voice answers."""

import asyncio
import hashlib
import io
import os
import shutil
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import av
import numpy as np
import structlog
from msgspec import Struct

from audio.errors import BadRecording, SynthesisFailed
from audio.interfaces import Synthesizer, closing
from audio.loops import Loop
from audio.pcm import Samples
from audio.speech import SpeechAudio


def to_flac(samples: Samples, sample_rate: int) -> bytes:
    """Return a FLAC file of mono samples (int16, shape (n,)); nothing is lost."""
    file = io.BytesIO()
    with av.open(file, "w", format="flac") as container:
        stream = container.add_stream("flac", rate=sample_rate, format="s16", layout="mono")
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples[None, :]), format="s16", layout="mono")
        frame.sample_rate = sample_rate
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return file.getvalue()


def from_flac(data: bytes) -> tuple[Samples, int]:
    """Return the samples and their rate in Hz. Raises `BadRecording` when this is no FLAC or holds no sound."""
    try:
        with av.open(io.BytesIO(data), "r", format="flac", metadata_errors="ignore") as container:
            frames = list(container.decode(audio=0))
    except (av.error.FFmpegError, IndexError) as error:
        raise BadRecording(f"this is no FLAC ({error}): it is removed") from error
    if not frames:
        raise BadRecording("this FLAC holds no sound: it is removed")
    return np.concatenate([frame.to_ndarray()[0] for frame in frames]), frames[0].sample_rate


log = structlog.get_logger()

LONGEST_SECONDS = 8.0
"""Of sound: what is said again and again is short."""


class TtsCache(Struct, frozen=True):
    """A folder of sentences as FLAC, named by a hash; the least recently used are removed first. All calls block.

    The folder is readable by its owner alone and is made inside a folder that exists. A crash may lose the last
    phrase, and never leaves half of one.
    """

    folder: Path
    most_phrases: int = 500
    most_bytes: int = 200_000_000

    def keep(self, voice: str, sentence: str, language: str, sound: SpeechAudio) -> None:
        """Keep a sentence, or take note that it was said again. `voice` is its identity. Raises OSError."""
        file = self._file(voice, sentence, language)
        if file.exists():
            os.utime(file)
            return
        self.folder.mkdir(mode=0o700, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=self.folder, suffix=".flac", delete=False) as new:
            try:
                new.write(to_flac(sound.samples, sound.sample_rate))
                new.flush()
            except OSError:  # a full disk is not to be filled with halves
                Path(new.name).unlink()
                raise
        Path(new.name).replace(file)
        self._prune()

    def find(self, voice: str, sentence: str, language: str) -> SpeechAudio | None:
        """Return a sentence as it was said; None when it was not kept, or what was kept is broken (it is removed).

        A disk that takes nothing any more still gives what is on it: that is when a voice is needed most.
        """
        file = self._file(voice, sentence, language)
        try:
            samples, sample_rate = from_flac(file.read_bytes())
        except OSError:
            return None
        except BadRecording:
            with suppress(OSError):
                file.unlink()
            return None
        with suppress(OSError):
            os.utime(file)
        return SpeechAudio(samples, sample_rate)

    def forget(self) -> None:
        """Remove all that was kept."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _file(self, voice: str, sentence: str, language: str) -> Path:
        name = hashlib.sha256("\0".join((voice, language, sentence)).encode()).hexdigest()
        return self.folder / f"{name}.flac"

    def _prune(self) -> None:
        sizes = {file: file.stat() for file in self.folder.glob("*.flac")}
        total = sum(size.st_size for size in sizes.values())
        for file in sorted(sizes, key=lambda each: sizes[each].st_mtime_ns):
            if len(sizes) <= self.most_phrases and total <= self.most_bytes:
                return
            file.unlink(missing_ok=True)
            total -= sizes.pop(file).st_size


class KeepingVoice(Synthesizer):
    """A `Synthesizer` around another that stores each short sentence that was synthesized whole."""

    def __init__(self, voice: Synthesizer, phrases: TtsCache) -> None:
        self.name = voice.name
        self.sends_to = voice.sends_to
        self.identity = voice.identity or voice.name
        self._voice = voice
        self._phrases = phrases

    def loops(self) -> Mapping[str, Loop]:
        """Return what keeps the voice ready."""
        return self._voice.loops()

    def expect(self) -> None:
        """Have the voice get ready."""
        self._voice.expect()

    async def speak(self, sentence: str, language: str) -> AsyncGenerator[SpeechAudio, None]:
        """Yield what the voice says. Raises what it raises; a disk that is full is none of the listener's business."""
        pieces: list[SpeechAudio] = []
        seconds = 0.0
        async with closing(self._voice.speak(sentence, language)) as spoken:
            async for piece in spoken:
                seconds += len(piece.samples) / piece.sample_rate
                if seconds <= LONGEST_SECONDS:
                    pieces.append(piece)
                yield piece
        if pieces and seconds <= LONGEST_SECONDS:
            samples = np.concatenate([piece.samples for piece in pieces])
            sound = SpeechAudio(samples, pieces[0].sample_rate)
            try:
                await asyncio.to_thread(self._phrases.keep, self.identity, sentence, language, sound)
            except OSError as error:
                log.debug("phrase_not_kept", reason=str(error))


class KeptVoice(Synthesizer):
    """A `Synthesizer` that can say what is in the cache, and nothing else."""

    name = "kept phrases"
    sends_to = ()

    def __init__(self, phrases: TtsCache, voices: Sequence[str]) -> None:
        self._phrases = phrases
        self._voices = voices
        """What the voices are kept under (`Synthesizer.identity`), the best first."""

    async def speak(self, sentence: str, language: str) -> AsyncGenerator[SpeechAudio, None]:
        """Yield the sentence in one piece. Raises `SynthesisFailed` when it was not kept."""
        for voice in self._voices:
            if sound := await asyncio.to_thread(self._phrases.find, voice, sentence, language):
                yield sound
                return
        raise SynthesisFailed("this sentence was not kept from before")
