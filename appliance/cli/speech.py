"""`nakari say` and `nakari hear`: one text spoken, one recording heard."""

import asyncio
import json
from pathlib import Path

from appliance.config.load import Config
from appliance.config.options import RunOptions
from appliance.errors import Problem
from appliance.exits import Exit
from appliance.input.whisper.recognizers import choose_recognizer
from appliance.output.voices import choose_voice, open_player
from audio.capture.recording import RecordingSource
from audio.language import sentence_language
from audio.loops import running
from audio.playback.speech_output import SpeechObserver, SpeechOutput, SpokenSentence
from audio.speech import RecognizedTurn
from audio.tts.sentences import SentenceSplitter
from audio.turns.endpointer import Endpointer, EndpointerSettings
from audio.turns.listener import Listener
from audio.turns.vad import load_detector


def say(config: Config, text: str, output: Path | None) -> Exit:
    """Speak the text to its end. Raises `Problem` when no voice or no loudspeaker was there for all of it."""
    if not asyncio.run(_is_said(config, text, output)):
        raise Problem("it was not said, or not to its end; `nakari doctor` tells what is missing", Exit.UNAVAILABLE)
    return Exit.OK


async def _is_said(config: Config, text: str, output: Path | None) -> bool:
    player = await open_player(config, RunOptions(output=output, fast=output is not None))
    mouth = SpeechOutput(choose_voice(config), player, volume=config.voice.volume)
    unheard = Unheard()
    mouth.observe(unheard)
    splitter = SentenceSplitter()
    sentences = [*splitter.feed(text), *splitter.finish()]
    try:
        async with running(mouth.loops()):
            for number, sentence in enumerate(sentences):
                language = sentence_language(sentence, config.ears.language)
                await mouth.say(SpokenSentence("say", number, sentence, language))
            await mouth.quiet()
    finally:
        await player.aclose()
    return not unheard.sentences


class Unheard(SpeechObserver):
    """Collects the sentences that were not heard to their end."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    async def sentence_ended(self, sentence: SpokenSentence, heard: str, whole: bool) -> None:
        """Keep the sentence if it was cut off."""
        if not whole:
            self.sentences.append(sentence.text)


def hear(config: Config, recording: Path) -> Exit:
    """Print one JSON object a line for each utterance. Raises `BadRecording`, `ModelNotFound`."""
    asyncio.run(_hear(config, recording))
    return Exit.OK


async def _hear(config: Config, recording: Path) -> None:
    source = RecordingSource(recording, fast=True)
    endpointer = Endpointer(EndpointerSettings(commit_seconds=config.ears.commit_silence))
    listener = Listener(source, load_detector(), endpointer, choose_recognizer(config).recognizer, Printed(source))
    async with asyncio.TaskGroup() as group:
        group.create_task(listener.listen(), name="ears: chunks to utterances")
        group.create_task(listener.recognize(), name="ears: utterances to transcripts")


class Printed:
    """A `TurnIntake` that prints every turn of a recording."""

    def __init__(self, source: RecordingSource) -> None:
        self._source = source

    async def admit(self, heard: RecognizedTurn) -> str:
        """Let everything pass."""
        return ""

    async def accept(self, heard: RecognizedTurn) -> None:
        """Print the turn as one JSON object."""
        print(json.dumps(_line(heard, self._source.started_at), ensure_ascii=False), flush=True)  # noqa: T201  it is what was asked for


def _line(heard: RecognizedTurn, began: float) -> dict[str, object]:
    utterance, transcript = heard.utterance, heard.transcript
    return {
        "start": round(utterance.started_at - began, 2),
        "end": round(utterance.ended_at - began, 2),
        "text": transcript.text,
        "language": transcript.language,
        "confidence": transcript.confidence,
        "recognizer": transcript.recognizer,
        "evidence": {name: round(value, 3) for name, value in transcript.evidence.items()},
    }
