"""Human speech through the real ears, and a chain whose first recognizer dies in the middle of a request."""

import asyncio
from pathlib import Path

import numpy as np
import pytest

from audio.capture.recording import RecordingSource
from audio.pcm import SAMPLE_RATE
from audio.recognizer.chain import RecognizerChain
from audio.recognizer.openai_api import OpenAiRecognizer, wav_of
from audio.recognizer.pocketsphinx import PocketsphinxRecognizer
from audio.turns.endpointer import Endpointer
from audio.turns.listener import Listener
from audio.turns.vad import load_detector
from tests.audio.ears_fakes import Intake
from tests.audio.spoken import debian_clips, plain, silence
from tests.audio.test_human_speech import CARDS
from tests.audio.transcription_server import Answer, Asked, transcribing, verbose


@pytest.mark.shows("V14", "F28")
async def test_a_server_that_dies_in_mid_session_loses_no_turn(tmp_path: Path) -> None:
    clips = debian_clips("cards")
    file = tmp_path / "cards.wav"
    sound = [silence(1.0), *(part for clip in clips for part in (clip.samples, silence(2.0)))]
    file.write_bytes(wav_of(np.concatenate(sound)))
    intake = Intake()
    lengths: list[float] = []

    def answer(asked: Asked) -> Answer:
        lengths.append(len(asked.samples) / SAMPLE_RATE)
        if len(intake.heard) == 2:
            server.die()
        return verbose("two of clubs")

    with transcribing(answer) as server:
        local = PocketsphinxRecognizer(CARDS)
        chain = RecognizerChain([OpenAiRecognizer(server.url, "whisper-1"), local], lambda: local, patience=60.0)
        endpointer = Endpointer()
        listener = Listener(RecordingSource(file, fast=True), load_detector(), endpointer, chain, intake)
        async with asyncio.TaskGroup() as group:
            group.create_task(listener.listen())
            group.create_task(listener.recognize())
        await asyncio.to_thread(chain.close)
    assert [each.transcript.recognizer for each in intake.heard] == ["openai:whisper-1"] * 2 + ["pocketsphinx"] * 3
    assert [plain(each.transcript.text) for each in intake.heard[2:]] == [plain(clip.words) for clip in clips[2:]]
    assert all(length > 0.5 for length in lengths)
