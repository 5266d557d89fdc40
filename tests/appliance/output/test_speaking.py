"""Which voices a configuration gives, heard through the real espeak-ng and a server that speaks edge's protocol."""

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from agent.replies import Reply
from appliance.config.sections import VoiceSettings
from appliance.output.voices import SpeechSettings, choose_voice
from tests.appliance.output.test_voice import EVENT, FIRST, a_room
from tests.audio.edge_server import Fault, edge_server, spoken
from tests.audio.mouth_fakes import Clock, listen

TEXT = "The tea is ready."


def kept(folder: Path) -> int:
    return len(list((folder / "phrases").glob("*.flac")))


@pytest.mark.shows("V19")
async def test_what_was_said_is_kept_until_the_keeping_is_switched_off(tmp_path: Path) -> None:
    spoken(TEXT)
    async with edge_server() as server:
        outcome = await listen(
            choose_voice(SpeechSettings(VoiceSettings(edge_url=server.url)), tmp_path).speak(TEXT, "en")
        )
        assert (outcome.failure, outcome.words) == ("", ["The", "tea", "is", "ready"])
    assert kept(tmp_path) == 1

    voice = choose_voice(SpeechSettings(VoiceSettings(engines=("espeak",), keep_phrases=False)), tmp_path)
    assert kept(tmp_path) == 0
    assert (await listen(voice.speak(TEXT, "en"))).failure == ""
    assert kept(tmp_path) == 0


@pytest.mark.shows("V19")
async def test_a_service_that_comes_back_is_asked_again_when_the_pause_is_over(tmp_path: Path) -> None:
    spoken(TEXT)
    clock, words = Clock(), []
    async with edge_server(Fault.REFUSE_500) as server:
        voice = choose_voice(SpeechSettings(VoiceSettings(edge_url=server.url)), tmp_path, clock)
        for seconds in (0.0, 9.0, 2.0):
            clock.now += seconds
            outcome = await listen(voice.speak(TEXT, "en"))
            assert outcome.failure == ""
            words.append(outcome.words)
    assert words == [[], [], ["The", "tea", "is", "ready"]]


@pytest.mark.shows("V19", "V30")
async def test_the_local_voice_alone_asks_nobody(tmp_path: Path) -> None:
    async with edge_server() as server:
        voice = choose_voice(SpeechSettings(VoiceSettings(engines=("espeak",), edge_url=server.url)), tmp_path)
        assert (await listen(voice.speak(TEXT, "en"))).failure == ""
        assert server.connections == 0


async def test_a_sentence_that_failed_is_in_the_log_with_the_reason() -> None:
    with capture_logs() as logs:
        async with a_room() as room:
            room.voice.failures[0] = 0
            delivery = room.outlet.open(Reply(EVENT, "c1"))
            await delivery.feed(FIRST)
            await delivery.close()
            await delivery.ended()
    told = [entry for entry in logs if entry["event"] == "sentence_failed"]
    assert told == [
        {
            "event": "sentence_failed",
            "log_level": "warning",
            "number": 1,
            "reason": "scripted failed as its script says",
        }
    ]
