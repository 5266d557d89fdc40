"""piper, a neural voice on this machine, as a program of its own: either of its two kinds, kept running."""

import asyncio
import os
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Final

from audio.backoff import Backoff
from audio.errors import SynthesisFailed, VoiceUnavailable
from audio.interfaces import Synthesizer
from audio.loops import Loop
from audio.speech import SpeechAudio
from audio.tts.decoding import WavStream
from audio.tts.programs import CONTROLS, VoiceProgram, end_of

FIX: Final = "install it with `pipx install piper-tts`, or set [piper] command"

MEMORY: Final = Path("/dev/shm")
"""Where sound goes on its way, if it can be had: it wears no card out."""

FIRST_REST: Final = 5.0
LONGEST_REST: Final = 600.0
"""Seconds before a program that ended is started again, doubled up to the longest."""

LONGEST_LINE: Final = 1_000_000
"""Bytes of what it logs in one line."""


class PiperSynthesizer(Synthesizer):
    """A `Synthesizer` that sends nothing anywhere. It times no words.

    While `loops` run there is one program a model, which reads a sentence a line and says where it wrote its sound:
    loading a model takes seconds. Without them there is one a sentence.
    """

    name = "piper"
    sends_to = ()

    def __init__(self, command: Sequence[str], models: Mapping[str, str], *, stall_timeout: float = 30.0) -> None:
        """`models` are paths of .onnx files by ISO 639-1, each with its .onnx.json beside it; the first speaks "".

        `stall_timeout` is the seconds that a program of one sentence may take.
        """
        self.identity = "\n".join((self.name, str(sorted(models.items()))))
        self._command = tuple(command)
        self._models = models
        self._stall_timeout = stall_timeout
        self._kept: dict[str, _KeptPiper] = {}
        """By model."""
        self.is_running, self.has_ended = asyncio.Event(), asyncio.Event()
        """Set once a program is kept, and once one that was kept has ended."""

    def loops(self) -> Mapping[str, Loop]:
        """Return what keeps a program running for each model, until cancelled."""
        return {"speech: piper, kept running": self.keep_running}

    async def keep_running(self) -> None:
        """Keep a program running for each model, until cancelled. One that ended is started again after a rest."""
        async with asyncio.TaskGroup() as group:
            for model in dict.fromkeys(self._models.values()):
                group.create_task(self._keep(model), name=f"piper: {model}")

    async def speak(self, sentence: str, language: str) -> AsyncGenerator[SpeechAudio, None]:
        """Yield the sentence's sound in one piece, mono, in the model's rate.

        Raises `VoiceUnavailable` without a model for the language or without the program, else `SynthesisFailed`.
        """
        model = self._models.get(language) if language else next(iter(self._models.values()), "")
        if not model:
            raise VoiceUnavailable(f"piper has no model for {language!r}: name one in [piper] models")
        line = CONTROLS.sub(" ", sentence)
        if (kept := self._kept.get(model)) is not None:
            yield await kept.sound_of(line)
            return
        arguments = [*self._command, "--model", model, "--output_file", "-"]
        program = VoiceProgram(arguments, fix=FIX, stall_timeout=self._stall_timeout)
        async with aclosing(program.speak(f"{line}\n")) as pieces:
            async for piece in pieces:
                yield piece

    async def _keep(self, model: str) -> None:
        rest = Backoff(FIRST_REST, LONGEST_REST, steady=LONGEST_REST)
        while True:
            try:
                async with _running(self._command, model) as kept:
                    self._kept[model] = kept
                    self.is_running.set()
                    await kept.listen()
            except VoiceUnavailable:
                pass  # whoever speaks next starts one, and is told
            finally:
                self._kept.pop(model, None)
                self.has_ended.set()
            await asyncio.sleep(rest.failed())


class _KeptPiper:
    """One running program, its sentences in order."""

    def __init__(self, process: Process, folder: Path) -> None:
        self._process = process
        self._folder = folder
        self._made: asyncio.Queue[Path | None] = asyncio.Queue()
        """Files in the order of the sentences; None once it has ended."""
        self._owed = 0
        """Sentences that nobody waits for any more, and whose files are still to come."""
        self._turn = asyncio.Lock()

    async def listen(self) -> None:
        """Take what it says of its files, until it ends."""
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        try:
            async with asyncio.TaskGroup() as group:  # the older kind names them on the one, the newer on the other
                group.create_task(self._read(self._process.stdout), name="piper: stdout")
                group.create_task(self._read(self._process.stderr), name="piper: stderr")
        finally:
            self._made.put_nowait(None)

    async def sound_of(self, line: str) -> SpeechAudio:
        """Return a sentence's sound. Raises `SynthesisFailed`."""
        async with self._turn:
            assert self._process.stdin is not None
            self._owed += 1
            try:
                self._process.stdin.write(f"{line}\n".encode())
                await self._process.stdin.drain()
            except ConnectionError as error:
                raise SynthesisFailed("piper ended") from error
            while (file := await self._made.get()) is not None:
                self._owed -= 1
                if self._owed == 0:
                    return await asyncio.to_thread(_taken, file)
                await asyncio.to_thread(file.unlink, missing_ok=True)
            self._made.put_nowait(None)
            raise SynthesisFailed("piper ended in the middle of a sentence")

    async def _read(self, pipe: asyncio.StreamReader) -> None:
        while True:
            try:
                line = (await pipe.readline()).decode(errors="replace")
            except ValueError:  # longer than any path
                continue
            if not line:
                return
            begins = line.find(str(self._folder))
            if begins >= 0 and line.rstrip().endswith(".wav"):
                self._made.put_nowait(Path(line[begins:].rstrip()))


def _taken(file: Path) -> SpeechAudio:
    """Return the sound of a file and remove it. Raises `SynthesisFailed`."""
    try:
        data = file.read_bytes()
        file.unlink()
    except OSError as error:
        raise SynthesisFailed(f"piper's sound cannot be read ({error.strerror})") from error
    stream = WavStream()
    samples = stream.feed(data)
    stream.finish()
    if len(samples) == 0:
        raise SynthesisFailed("piper made no sound")
    return SpeechAudio(samples, stream.sample_rate)


@asynccontextmanager
async def _running(command: Sequence[str], model: str) -> AsyncIterator[_KeptPiper]:
    """Run a program for the block. Raises `VoiceUnavailable` when it cannot be started."""
    place = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="nakari-piper-", dir=place, ignore_cleanup_errors=True) as folder:
        arguments = [*command, "--model", model, "--output_dir", folder]
        try:
            process = await asyncio.create_subprocess_exec(
                *arguments, stdin=PIPE, stdout=PIPE, stderr=PIPE, limit=LONGEST_LINE, start_new_session=True
            )
        except OSError as error:
            raise VoiceUnavailable(f"{command[0]} cannot be started ({error.strerror}): {FIX}") from error
        try:
            yield _KeptPiper(process, Path(folder))
        finally:
            await end_of(process)
