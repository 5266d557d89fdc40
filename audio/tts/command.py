"""A voice that is a program: text in by its standard input, WAV out by its standard output."""

import asyncio
import contextlib
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from audio.errors import SynthesisFailed, VoiceUnavailable
from audio.speech import SpeechAudio
from audio.tts.wav_stream import WavStream

PIPE_BYTES = 8192
"""Taken at a time: 0.19 s of espeak-ng's sound."""

COMPLAINT_BYTES = 2000
"""Of a program's standard error, read when it failed."""


@dataclass(frozen=True, slots=True)
class VoiceProgram:
    """How a program is started, and how a person gets it."""

    arguments: Sequence[str]
    """The program first; no shell reads them."""
    fix: str
    """What to do when there is no such program."""
    stall_timeout: float = 3.0
    """Seconds it may take to its first sound, and between two pieces."""

    async def speak(self, text: str) -> AsyncGenerator[SpeechAudio, None]:
        """Run the program with `text` on its standard input and yield its sound as it comes.

        The program is killed when the iterator is closed. Raises `VoiceUnavailable` when it cannot be started,
        `SynthesisFailed` when it fails, stalls or makes no sound.
        """
        process = await self._start()
        stream, total = WavStream(), 0
        try:
            await _write(process, text)
            while data := await self._read(process):
                samples = stream.feed(data)
                total += len(samples)
                if len(samples):
                    yield SpeechAudio(samples, stream.sample_rate)
            await self._check(process, total)
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.communicate()  # to the end of its pipes, which alone closes them

    async def _start(self) -> Process:
        try:
            return await asyncio.create_subprocess_exec(*self.arguments, stdin=PIPE, stdout=PIPE, stderr=PIPE)
        except OSError as error:
            raise VoiceUnavailable(f"{self.arguments[0]} cannot be started ({error.strerror}): {self.fix}") from error

    async def _read(self, process: Process) -> bytes:
        assert process.stdout is not None
        try:
            async with asyncio.timeout(self.stall_timeout):
                return await process.stdout.read(PIPE_BYTES)
        except TimeoutError as error:
            raise SynthesisFailed(f"{self.arguments[0]} made no sound within {self.stall_timeout:.1f} s") from error

    async def _check(self, process: Process, samples: int) -> None:
        """Raise `SynthesisFailed` unless the program ended well and made sound."""
        assert process.stderr is not None
        try:
            async with asyncio.timeout(self.stall_timeout):
                complaint = (await process.stderr.read(COMPLAINT_BYTES)).decode(errors="replace").strip()
                code = await process.wait()
        except TimeoutError as error:
            raise SynthesisFailed(f"{self.arguments[0]} did not end after its last sound") from error
        if code != 0:
            raise SynthesisFailed(f"{self.arguments[0]} failed with {code}: {complaint or 'it says no more'}")
        if samples == 0:
            raise SynthesisFailed(f"{self.arguments[0]} made no sound")


async def _write(process: Process, text: str) -> None:
    """Give the program its text; a program that ended before it read all tells why by its exit code."""
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(text.encode())
        await process.stdin.drain()
    process.stdin.close()
