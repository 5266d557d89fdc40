"""`nakari say` and `nakari hear`: one text spoken, one recording heard."""

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from appliance.api.client import follow, service_of
from appliance.cli.root import to_be_made
from appliance.cli.terminal import progress, show_above
from appliance.config.load import Config
from appliance.config.options import RunOptions
from appliance.errors import Exit, Problem
from appliance.input.event import evidence_of
from appliance.input.hearing.choose import choose_recognizer, hearing_settings
from appliance.output.voices import choose_voice, open_player, speech_settings
from audio.capture.recording import RecordingSource
from audio.interfaces import TurnObserver
from audio.language import sentence_language
from audio.loops import running
from audio.playback.speech_output import SpeechObserver, SpeechOutput, SpokenSentence
from audio.speech import RecognizedTurn
from audio.tts.sentences import SentenceSplitter
from audio.turns.endpointer import Endpointer
from audio.turns.evidence import evidence_guard
from audio.turns.listener import Listener
from audio.turns.vad import load_detector
from memory.progress import Progress

WHEN_NOBODY_WAITS: Final = 600.0
"""Seconds that a voice may be silent before a sentence for a file is given up: a busy machine only takes longer."""


def say(config: Config, text: str, output: Path | None) -> None:
    """Speak the text to its end, into a file that is whole or not there; without one, by the service that runs.

    Raises `Problem` when no voice or no loudspeaker was there for all of it, or when the file cannot be written.
    """
    if output is None and (path := _service(config)) is not None:
        asyncio.run(follow(path, {"do": "say", "text": text}))
        return
    with beside(output) as file, progress("speaking") as told:
        if not asyncio.run(_is_said(config, text, file, told)):
            raise Problem("it was not said, or not to its end; `nakari doctor` tells what is missing", Exit.UNAVAILABLE)


def _service(config: Config) -> Path | None:
    """Return the door of the service that runs, None where there is none that lets this user in."""
    try:
        return asyncio.run(service_of(config))
    except Problem:
        return None


@contextmanager
def beside(output: Path | None) -> Iterator[Path | None]:
    """Give a file beside the one that is wanted, which takes its place at the end of what succeeds."""
    if output is None or (output.exists() and not output.is_file()):  # into a device or a pipe it goes as it comes
        yield output
        return
    to_be_made(output)
    part = output.resolve().with_name(f".{output.name}.{os.getpid()}.part")
    try:
        part.touch()
    except OSError as error:
        fix = "check permissions and free space, or name another file"
        raise Problem(f"{output} cannot be written ({error.strerror}); {fix}", Exit.CANNOT_CREATE) from error
    try:
        yield part
        part.replace(output.resolve())
    finally:
        part.unlink(missing_ok=True)


async def _is_said(config: Config, text: str, output: Path | None, told: Progress) -> bool:
    player = await open_player(config.voice, RunOptions(output=output, fast=output is not None))
    patience = None if output is None else WHEN_NOBODY_WAITS
    voice = choose_voice(speech_settings(config), config.state_folder, silence=patience)
    mouth = SpeechOutput(voice, player, volume=config.voice.volume)
    splitter = SentenceSplitter()
    sentences = [*splitter.feed(text), *splitter.finish()]
    spoken = Spoken(lambda number: told(number, len(sentences)))
    mouth.observe(spoken)
    try:
        async with running(mouth.loops()):
            for number, sentence in enumerate(sentences):
                language = sentence_language(sentence, config.ears.language)
                await mouth.say(SpokenSentence("say", number, sentence, language))
            await mouth.quiet()
    finally:
        await player.aclose()
    return not spoken.unheard


class Spoken(SpeechObserver):
    """Tells how far it is, and collects the sentences that were not heard to their end."""

    def __init__(self, told: Callable[[int], None]) -> None:
        """`told` is given the number of sentences that were spoken."""
        self.unheard: list[str] = []
        self._told = told

    async def sentence_ended(self, sentence: SpokenSentence, heard: str, whole: bool) -> None:
        """Keep the sentence if it was cut off."""
        self._told(sentence.number + 1)
        if not whole:
            self.unheard.append(sentence.text)


def hear(config: Config, recording: Path) -> None:
    """Print one JSON object a line for each utterance. Raises `BadRecording`, `ModelNotFound`."""
    with progress("listening") as told:
        asyncio.run(_hear(config, recording, told))


async def _hear(config: Config, recording: Path, told: Progress) -> None:
    source = RecordingSource(recording, fast=True)
    seconds = max(1, round(source.seconds))
    printed = Printed(source, lambda done: told(min(round(done), seconds), seconds))
    endpointer = Endpointer(config.ears.commit_silence)
    listener = Listener(
        source, load_detector(), endpointer, choose_recognizer(hearing_settings(config)).recognizer, printed
    )
    listener.observe(printed)
    async with asyncio.TaskGroup() as group:
        group.create_task(listener.listen(), name="ears: chunks to utterances")
        group.create_task(listener.recognize(), name="ears: utterances to transcripts")


class Printed(TurnObserver):
    """A `TurnIntake` and `TurnObserver` that prints every turn of a recording, with the evidence guard's verdict."""

    def __init__(self, source: RecordingSource, told: Callable[[float], None]) -> None:
        """`told` is given the seconds of the recording that are done."""
        self._source = source
        self._told = told

    async def admit(self, heard: RecognizedTurn) -> str:
        """Return why nobody would get the words."""
        return evidence_guard(heard)

    async def accept(self, heard: RecognizedTurn) -> None:
        """Hand it to nobody."""

    def turn_ended(self, heard: RecognizedTurn | None, suppressed: str) -> None:
        """Print a turn that was recognized as one JSON object."""
        if heard is not None:
            show_above(json.dumps(_line(heard, suppressed, self._source.started_at), ensure_ascii=False))
            self._told(heard.utterance.ended_at - self._source.started_at)


def _line(heard: RecognizedTurn, suppressed: str, began: float) -> dict[str, object]:
    utterance, transcript = heard.utterance, heard.transcript
    return {
        "start": round(utterance.started_at - began, 2),
        "end": round(utterance.ended_at - began, 2),
        "text": transcript.text,
        "language": transcript.language,
        "confidence": transcript.confidence,
        "recognizer": transcript.recognizer,
        "verdict": suppressed or "heard",
        "evidence": evidence_of(heard),
    }
