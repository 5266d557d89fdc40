"""`nakari demo`: the main job on any machine, from a spoken question to an answer aloud, with the time it took."""

import asyncio
import re
import tempfile
import wave
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import click
import numpy as np

from agent.bus import Observer
from agent.event import ASR_TRANSCRIPT, Event
from agent.replies import SENTENCE_STARTED
from appliance.config.load import Config
from appliance.config.options import RunOptions
from appliance.exits import Exit
from appliance.input.whisper.recognizers import model_in_use
from appliance.input.whisper.settings import whisper_settings
from appliance.output.voice import FIRST_SOUND
from appliance.service import conversation_over, serve
from appliance.wiring.box import Box, open_box
from audio.pcm import SAMPLE_RATE, Samples
from audio.resampler import StreamResampler
from audio.tts.programs import FliteSynthesizer

QUESTION: Final = "What day is it today?"
"""Understood by every recognizer that runs here, on every processor: tests/service/test_demo_sentences.py checks it."""

LEAD_SECONDS: Final = 0.6
"""Quiet before the question, as in a room."""

SECONDS: Final = 60.0
"""The longest a demo may take."""


STAGES: Final = ("speech ended", "committed", "text", "first token", "first sound")
_FROM_EARS: Final = {"speech_ended": "speech ended", "committed": "committed", "text": "text"}


@dataclass(slots=True)
class Waterfall:
    """Collects the marks of one turn from the envelopes of its run."""

    event_id: str
    marks: dict[str, float] = field(default_factory=dict)
    """Stage -> seconds on `time.monotonic`."""

    def begin(self, event: Event) -> None:
        """Take the ears' marks from the event itself."""
        timing = event.metadata.get("timing")
        if isinstance(timing, dict):
            self.marks |= {
                stage: at for key, stage in _FROM_EARS.items() if isinstance(at := timing.get(key), int | float)
            }

    def take(self, envelope: Event) -> None:
        """Take a mark from an envelope of the run; the first of its kind counts."""
        if envelope.parent_id != self.event_id:
            return
        if envelope.type == "llm.results" and isinstance(at := envelope.metadata.get("first_token_at"), float):
            self.marks.setdefault("first token", at)
        if envelope.type == FIRST_SOUND and isinstance(at := envelope.metadata.get("at"), float):
            self.marks.setdefault("first sound", at)

    @property
    def rows(self) -> list[tuple[str, float, float]]:
        """Stage, seconds since speech ended, seconds since the stage before; those reached, as they were reached.

        The text may be there before the turn is known to be over: it is recognized in the pause.
        """
        reached = sorted((self.marks[stage], STAGES.index(stage)) for stage in STAGES if stage in self.marks)
        rows: list[tuple[str, float, float]] = []
        for index, (at, stage) in enumerate(reached):
            before = reached[index - 1][0] if index else at
            rows.append((STAGES[stage], at - self.marks.get(STAGES[0], reached[0][0]), at - before))
        return rows


@dataclass(slots=True)
class Turn:
    """What became of the question."""

    heard: str = ""
    recognizer: str = ""
    answered: list[str] = field(default_factory=list)
    waterfall: Waterfall = field(default_factory=lambda: Waterfall(""))

    async def follow(self, envelopes: Observer, box: Box) -> None:
        """Take what the bus shows, until cancelled."""
        async for envelope in envelopes:
            if envelope.type == "runs.new" and not self.heard:
                filed = await box.household.mailbox.find(envelope.parent_id)
                if filed is not None and filed.event.type == ASR_TRANSCRIPT:
                    self.heard = filed.event.content
                    evidence = filed.event.metadata.get("evidence")
                    self.recognizer = str(evidence.get("recognizer")) if isinstance(evidence, dict) else ""
                    self.waterfall = Waterfall(filed.event.id)
                    self.waterfall.begin(filed.event)
            if envelope.type == SENTENCE_STARTED:
                self.answered.append(envelope.content)
            self.waterfall.take(envelope)


def demo(config: Config, output: Path | None) -> Exit:
    """Ask, hear, think, answer; print each, and the waterfall. `Exit.FAULT` when meant and heard differ.

    Raises `VoiceUnavailable` when flite is missing, and what the box raises.
    """
    target = output or _without_loudspeaker()
    with tempfile.TemporaryDirectory(prefix="nakari-demo-") as folder:
        turn = asyncio.run(_demo(_own(config, Path(folder)), Path(folder), target))
    for line in report(turn, target):
        click.echo(line)
    return Exit.OK if words(turn.heard) == words(QUESTION) and turn.answered else Exit.FAULT


def words(text: str) -> list[str]:
    """Return what was said without case and punctuation: what meant and heard are compared by."""
    return re.findall(r"[\w']+", text.lower())


def report(turn: Turn, output: Path | None) -> list[str]:
    """Return what is printed: meant, heard, answered, and where the time went."""
    lines = [
        f"meant     {QUESTION}",
        f"heard     {turn.heard or '(nothing)'}   [{turn.recognizer or 'no recognizer'}]",
        f"answered  {' '.join(turn.answered) or '(nothing)'}",
        "",
        "          since the end of speech",
    ]
    lines += [f"{at:9.3f} s  {stage:<13} ({step:+.3f})" for stage, at, step in turn.waterfall.rows]
    return [*lines, "", f"the answer, as it would be heard, is in {output}"] if output else lines


async def _demo(config: Config, folder: Path, output: Path | None) -> Turn:
    question = folder / "question.wav"
    await speak_question(QUESTION, question)
    turn = Turn()
    async with open_box(config, RunOptions(input=question, output=output, once=True)) as box:
        envelopes = box.household.bus.observe("*")

        async def until_over() -> None:
            async with asyncio.timeout(SECONDS), asyncio.TaskGroup() as group:
                following = group.create_task(turn.follow(envelopes, box), name="demo: what happens")
                await conversation_over(box)
                following.cancel()

        await serve(box, until_over)
    return turn


async def speak_question(text: str, file: Path) -> None:
    """Write the text, spoken by flite, into a WAV of 16 kHz with a little quiet before it.

    Raises `VoiceUnavailable` when flite is not installed.
    """
    pieces: list[Samples] = [np.zeros(int(LEAD_SECONDS * SAMPLE_RATE), np.int16)]
    resampler: StreamResampler | None = None
    async for audio in FliteSynthesizer().speak(text, "en"):
        resampler = resampler or StreamResampler(audio.sample_rate, SAMPLE_RATE)
        pieces.append(resampler.feed(audio.samples))
    if resampler is not None:
        pieces.append(resampler.flush())
    with closing(wave.open(str(file), "wb")) as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(SAMPLE_RATE)
        out.writeframes(np.concatenate(pieces).tobytes())


def _own(config: Config, folder: Path) -> Config:
    """Return the configuration with a state of its own, so that its journal does not remember the demo."""
    return replace(
        config,
        state_folder=folder / "state",
        sockets=(folder / "nakari.sock",),
        ears=replace(config.ears, download=False, model=model_in_use(whisper_settings(config))),
    )


def _without_loudspeaker() -> Path | None:
    """Return where the answer goes when there is no loudspeaker, None when there is one."""
    from audio.devices.listing import find_device
    from audio.errors import DeviceUnavailable

    try:
        find_device("", "output")
    except DeviceUnavailable:
        return Path("nakari-demo.wav").resolve()
    return None
