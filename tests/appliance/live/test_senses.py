"""What ears and mouth are at, as the household sees it and nobody else."""

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agent.event import HOUSEHOLD
from appliance.live.senses import Meter, Senses
from audio.pcm import CHUNK_SAMPLES, AudioChunk
from audio.speech import PartialWords, SpeechStarted
from tests.agent.mind import PATIENCE, a_mind
from tests.appliance.live.looking import ARoom, a_live, a_look, payloads, valid
from tests.appliance.live.test_live import VISITOR
from tests.fakes import ScriptedModel


def loud(level: float) -> AudioChunk:
    wave = np.sin(np.arange(CHUNK_SAMPLES)) * 32767 * 10 ** (level / 20)
    return AudioChunk(wave.astype(np.int16), 0.0)


def seen(messages: list[Any]) -> list[tuple[str, bool]]:
    return [(each["state"], each["muted"]) for each in payloads(messages, "state")]


@pytest.mark.shows("E21")
async def test_hearing_speaking_and_mute_are_told_as_they_change(tmp_path: Path) -> None:
    room = ARoom()
    async with a_mind(tmp_path, [ScriptedModel()]) as mind, a_live(mind, room) as live:
        senses = Senses(mind.mind.bus.show)
        async with a_look(live) as look, a_look(live, VISITOR) as visitor:
            (snapshot,) = await look.until("snapshot")
            assert snapshot["payload"]["state"] == "listening"
            started = SpeechStarted(0.0, lambda: None)
            senses.speech_started(started)
            senses.speech_started(started)
            senses.turn_ended(None, "")
            senses.speaking_changed(speaking=True)
            senses.turn_ended(None, "")
            senses.speaking_changed(speaking=False)
            told = await look.until("state", state="listening")
            assert seen(told) == [("hearing", False), ("speaking", False), ("listening", False)]
            room.muted = True
            assert seen(await look.until("state")) == [("idle", True)]
            room.muted, room.listens = False, False
            assert seen(await look.until("state")) == [("idle", False)]
            (other,) = await visitor.until("snapshot")
            assert other["payload"]["state"] == "idle"
            assert visitor.told == [], "the room is the household's"


@pytest.mark.shows("E21")
async def test_words_are_shown_while_they_are_spoken_to_the_household_alone_and_kept_nowhere(tmp_path: Path) -> None:
    async with a_mind(tmp_path, [ScriptedModel()]) as mind, a_live(mind, ARoom()) as live:
        senses = Senses(mind.mind.bus.show)
        async with a_look(live) as look, a_look(live, VISITOR) as visitor:
            await look.until("snapshot")
            await visitor.until("snapshot")
            senses.speech_started(SpeechStarted(0.0, lambda: None))
            for text in ("turn on", "turn on the light"):
                senses.read(PartialWords(text, "en"))
            senses.turn_ended(None, "")
            told = await look.until("state", state="listening")
            assert payloads(told, "words_so_far") == [
                {"text": "turn on", "language": "en"},
                {"text": "turn on the light", "language": "en"},
            ]
            assert all(each["seq"] is None for each in told), "nothing of it is in the journal"
            assert visitor.told == []
        written = await mind.mind.journal.entries(newest=True, limit=20)
        assert not any("turn on" in str(entry.body) for entry in written)


async def test_levels_are_measured_only_while_somebody_looks(tmp_path: Path) -> None:
    meter = Meter()
    meter(loud(-20), 1.0, False)
    assert meter.take() == (-120, None)
    async with (
        a_mind(tmp_path, [ScriptedModel()]) as mind,
        a_live(mind, ARoom(meter)) as live,
        live.reading(HOUSEHOLD) as reader,
        live.reading(HOUSEHOLD, levels=False) as plain,
    ):
        async with asyncio.timeout(PATIENCE):
            found: list[Any] = []
            while {"microphone_db": -23, "loudspeaker_db": -13} not in found:
                meter(loud(-20), 1.0, False)
                meter.played(loud(-10).samples, 16_000, 0.0)
                packets = await reader.take(PATIENCE)
                found += [valid(each.json)["payload"] for each in packets if each.name == "levels"]
        assert [each.name for each in await plain.take(PATIENCE)] == ["snapshot"]
