"""`nakari hear`: what a recording says, utterance by utterance."""

import asyncio
import json
from pathlib import Path

from appliance.config.load import Config
from appliance.exits import Exit
from appliance.input.whisper.recognizers import choose_recognizer
from audio.capture.recording import RecordingSource
from audio.speech import RecognizedTurn
from audio.turns.endpointer import Endpointer, EndpointerSettings
from audio.turns.listener import Listener
from audio.turns.vad import load_detector


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
