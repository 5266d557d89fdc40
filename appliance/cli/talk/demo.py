"""`nakari demo`: the main job on any machine, from a spoken question to an answer aloud, with the time it took."""

import asyncio
import re
import tempfile
import wave
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final

import click
import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from agent.bus import Observer
from agent.event import ASR_TRANSCRIPT, HOUSEHOLD
from agent.replies import SENTENCE_STARTED
from agent.turns.waterfall import Turn, turns_of
from appliance.config.load import Config
from appliance.config.options import RunOptions
from appliance.errors import Exit
from appliance.input.whisper.choice import whisper_settings
from appliance.input.whisper.recognizers import model_in_use
from appliance.service import conversation_over, serve
from appliance.wiring.box import Box, open_box
from audio.loops import running
from audio.pcm import SAMPLE_RATE, Samples
from audio.resampler import StreamResampler
from audio.tts.programs import FliteSynthesizer

QUESTION: Final = "What day is it today?"
"""Understood by every recognizer that runs here, on every processor: tests/service/test_demo_sentences.py checks it."""

LEAD_SECONDS: Final = 0.6
"""Quiet before the question, as in a room."""

SECONDS: Final = 300.0
"""The longest a demo may take: an emulated Raspberry Pi is many times slower than the machine below it."""


class Demo(Struct):
    """What became of the question."""

    heard: str = ""
    recognizer: str = ""
    answered: list[str] = []
    turn: Turn | None = None
    """Its stages, once its run is over."""
    is_given_up: bool = False
    """Whether it took longer than `SECONDS`."""

    async def follow(self, envelopes: Observer, box: Box) -> None:
        """Take what the bus shows, until cancelled."""
        async for envelope in envelopes:
            if envelope.type == "runs.new" and not self.heard:
                filed = await box.household.mailbox.find(envelope.parent_id)
                if filed is not None and filed.event.type == ASR_TRANSCRIPT:
                    self.heard = filed.event.content
                    evidence = filed.event.metadata.get("evidence")
                    self.recognizer = str(evidence.get("recognizer")) if isinstance(evidence, dict) else ""
            if envelope.type == SENTENCE_STARTED:
                self.answered.append(envelope.content)

    async def look(self, box: Box) -> None:
        """Take the stages of the turn, whose run is over."""
        self.turn = next(iter(await turns_of(box.insight.journal, HOUSEHOLD)), None)


def demo(config: Config, output: Path | None) -> Exit:
    """Ask, hear, think, answer; print each, and the waterfall. `Exit.FAULT` when meant and heard differ.

    Raises `VoiceUnavailable` when flite is missing, and what the box raises.
    """
    target = output or _without_loudspeaker()
    with tempfile.TemporaryDirectory(prefix="nakari-demo-") as folder:
        told = asyncio.run(_demo(_own(config, Path(folder)), Path(folder), target))
    for line in report(told, target):
        click.echo(line)
    return Exit.OK if words(told.heard) == words(QUESTION) and told.answered else Exit.FAULT


def words(text: str) -> list[str]:
    """Return what was said without case and punctuation: what meant and heard are compared by."""
    return re.findall(r"[\w']+", text.lower())


def report(told: Demo, output: Path | None) -> list[str]:
    """Return what is printed: meant, heard, answered, and where the time went."""
    lines = [
        f"meant     {QUESTION}",
        f"heard     {told.heard or '(nothing)'}   [{told.recognizer or 'no recognizer'}]",
        f"answered  {' '.join(told.answered) or '(nothing)'}",
        "",
        "          since the end of speech",
    ]
    lines += stages_of(told.turn) if told.turn else []
    if told.is_given_up:
        too_slow_for = told.recognizer or "its recognizer"
        lines += ["", f"given up after {SECONDS:.0f} s: this machine is too busy, or too slow for {too_slow_for}"]
    return [*lines, "", f"the answer, as it would be heard, is in {output}"] if output else lines


def stages_of(turn: Turn) -> list[str]:
    """Return a line for each stage that a turn reached, in their order.

    Each tells the seconds since the turn's beginning, and since the stage before.
    """
    reached = list(turn.stages.items())
    before = [at for _, at in reached[:1]] + [at for _, at in reached]
    return [
        f"{at:9.3f} s  {stage.replace('_', ' '):<14} ({at - earlier:+.3f})"
        for (stage, at), earlier in zip(reached, before, strict=False)
    ]


async def _demo(config: Config, folder: Path, output: Path | None) -> Demo:
    question = folder / "question.wav"
    await speak_question(QUESTION, question)
    told = Demo()
    async with open_box(config, RunOptions(input=question, output=output, once=True)) as box:
        envelopes = box.household.bus.observe("*")

        async def until_over() -> None:
            try:
                follow = partial(told.follow, envelopes, box)
                async with asyncio.timeout(SECONDS), running({"demo: what happens": follow}):
                    await conversation_over(box)
            except TimeoutError:
                told.is_given_up = True
            await told.look(box)

        await serve(box, until_over)
    return told


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
