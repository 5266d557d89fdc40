"""Local voices that are programs: espeak-ng and flite, text in by standard input, WAV out by standard output."""

import asyncio
import contextlib
import os
import re
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing

from msgspec import Struct

from audio.errors import SynthesisFailed, VoiceUnavailable
from audio.interfaces import Synthesizer
from audio.loops import Loop
from audio.speech import SpeechAudio
from audio.tts.decoding import WavStream

PIPE_BYTES = 8192
"""Taken at a time: 0.19 s of espeak-ng's sound."""

COMPLAINT_BYTES = 2000
"""Of a program's standard error, read when it failed."""


class VoiceProgram(Struct, frozen=True):
    """How a program is started, and how a person gets it."""

    arguments: Sequence[str]
    """The program first; no shell reads them."""
    fix: str
    """What to do when there is no such program."""
    stall_timeout: float = 3.0
    """Seconds it may take to its first sound, and between two pieces."""

    async def speak(self, text: str, started: Process | None = None) -> AsyncGenerator[SpeechAudio, None]:
        """Run the program with `text` on its standard input and yield its sound as it comes.

        `started` is one that waits for its text already. The program is killed when the iterator is closed. Raises
        `VoiceUnavailable` when it cannot be started, `SynthesisFailed` when it fails, stalls or makes no sound.
        """
        process = started or await self.start()
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
            await end_of(process)

    async def start(self) -> Process:
        """Start the program, which then waits for its text. Raises `VoiceUnavailable` when it cannot be."""
        try:
            async with asyncio.TaskGroup() as group:  # asyncio's own start, cancelled twice, leaves a program behind
                starting = group.create_task(self._start())
        except asyncio.CancelledError:
            if not starting.cancelled() and isinstance(started := starting.result(), Process):
                await end_of(started)
            raise
        if isinstance(started := starting.result(), OSError):
            raise VoiceUnavailable(f"{self.arguments[0]} cannot be started ({started.strerror}): {self.fix}")
        return started

    async def _start(self) -> Process | OSError:
        try:
            return await asyncio.create_subprocess_exec(
                *self.arguments, stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True
            )
        except OSError as error:  # told by return: a group would wrap it
            return error

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


async def end_of(process: Process) -> None:
    """Kill the program if it still runs, and what it started, which would hold its pipes; it leads its own session."""
    if process.stdin is not None:
        process.stdin.close()
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        try:
            await process.communicate()  # to the end of its pipes, which alone closes them
        except asyncio.CancelledError:  # again, while it was being ended: it is dead, and only has to be waited for
            await process.wait()
            raise


async def _write(process: Process, text: str) -> None:
    """Give the program its text; a program that ended before it read all tells why by its exit code."""
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(text.encode())
        await process.stdin.drain()
    process.stdin.close()


VOICES = {"en": "en-us", "zh": "cmn"}
"""ISO 639-1 to espeak-ng's voice where the two differ."""

_VOICE_NAME = re.compile(r"[a-z]{2,3}(-[a-z0-9]+)*")
CONTROLS = re.compile(r"[\x00-\x1f\x7f]+")


WORDS_A_MINUTE = "165"


class EspeakSynthesizer(Synthesizer):
    """A `Synthesizer` that works anywhere; about 20 ms to its first sound, 2 ms while `keep_ready` runs.

    It times no words.
    """

    name = "espeak-ng"
    identity = f"{name} {WORDS_A_MINUTE}"
    sends_to = ()

    def __init__(self, *, program: str = "espeak-ng", stall_timeout: float = 3.0) -> None:
        """`stall_timeout` is the seconds it may take to its first sound, and between two pieces."""
        self._stall_timeout = stall_timeout
        self._program = program
        self._next: VoiceProgram | None = None
        """What the last sentence was spoken with; None before the first."""
        self._waiting: tuple[VoiceProgram, Process] | None = None
        """One that was started for the next sentence."""
        self._was_used = asyncio.Event()
        self.is_ready = asyncio.Event()
        """Set while a program waits for the next sentence."""

    def loops(self) -> Mapping[str, Loop]:
        """Return what has the next sentence's program started, until cancelled."""
        return {"speech: the next sentence's program": self.keep_ready}

    async def keep_ready(self) -> None:
        """Keep a program started that waits for the next sentence, in the last one's voice, until cancelled.

        Starting it is most of the time to the first sound. It waits for its text on a pipe, so it ends with this one.
        """
        try:
            while True:
                await self._was_used.wait()
                self._was_used.clear()
                await self._start_next()
        finally:
            if (left := self._take(None)) is not None:
                await end_of(left)

    async def speak(self, sentence: str, language: str) -> AsyncGenerator[SpeechAudio, None]:
        """Yield the sentence's sound, mono, 22,050 Hz. Raises `SynthesisFailed`, `VoiceUnavailable`."""
        voice = VOICES.get(language, language) or VOICES["en"]
        if not _VOICE_NAME.fullmatch(voice):
            raise VoiceUnavailable(f"{voice!r} is no language espeak-ng could know: use codes such as en or zh")
        program = VoiceProgram(
            [self._program, "--stdin", "--stdout", "-b", "1", "-s", WORDS_A_MINUTE, "-v", voice],
            fix="install it with `sudo apt install espeak-ng`",
            stall_timeout=self._stall_timeout,
        )
        try:
            async with aclosing(self._spoken(program, _plain(sentence))) as pieces:
                async for piece in pieces:
                    yield piece
        finally:
            self._next = program
            self._was_used.set()

    async def _spoken(self, program: VoiceProgram, text: str) -> AsyncGenerator[SpeechAudio, None]:
        """Yield the sound by the program that waits; by a new one where none does, or it was dead already."""
        if (ready := self._take(program)) is not None:
            has_sounded = False
            try:
                async with aclosing(program.speak(text, ready)) as pieces:
                    async for piece in pieces:
                        has_sounded = True
                        yield piece
            except SynthesisFailed:
                if has_sounded:
                    raise
            else:
                return
        async with aclosing(program.speak(text)) as pieces:
            async for piece in pieces:
                yield piece

    async def _start_next(self) -> None:
        if self._waiting is not None and self._waiting[0] == self._next:
            return
        if (other := self._take(None)) is not None:
            await end_of(other)
        if self._next is not None:
            with contextlib.suppress(VoiceUnavailable):  # whoever speaks next is told
                self._waiting = (self._next, await self._next.start())
                self.is_ready.set()

    def _take(self, program: VoiceProgram | None) -> Process | None:
        """Return what waits, if it is this program (None: any) and still runs; it waits no more."""
        if self._waiting is None or program not in (None, self._waiting[0]):
            return None
        waiting, self._waiting = self._waiting[1], None
        self.is_ready.clear()
        return waiting


def _plain(sentence: str) -> str:
    """Return the sentence so that it is only read: double brackets would begin phonemes, controls commands."""
    return CONTROLS.sub(" ", sentence).replace("[[", "[ [").replace("]]", "] ]")


class FliteSynthesizer(Synthesizer):
    """A `Synthesizer` for English; it speaks when the whole sentence is made."""

    name = "flite"
    identity = "flite slt"
    sends_to = ()

    def __init__(self, *, program: str = "flite") -> None:
        self._program = program

    async def speak(self, sentence: str, language: str) -> AsyncGenerator[SpeechAudio, None]:
        """Yield the sentence's sound, mono, 16 kHz (kal: 8 kHz). Raises `SynthesisFailed`, `VoiceUnavailable`."""
        if language not in ("", "en"):
            raise SynthesisFailed(f"flite speaks English only, and this is {language}")
        # Read from standard input it would want to read what it wrote, which a pipe cannot give.
        program = VoiceProgram(
            [self._program, "-voice", "slt", "-t", CONTROLS.sub(" ", sentence), "-o", "/dev/stdout"],
            fix="install it with `sudo apt install flite`",
        )
        async with aclosing(program.speak("")) as pieces:
            async for piece in pieces:
                yield piece
