"""kill -9 of the real process: what was accepted is answered, and no sentence is spoken twice."""

from pathlib import Path

import pytest

from tests.agent.openai_server import Gate, OpenAiServer, reply
from tests.service.process import Household, speak

COUNTED = "Number one is spoken first. Number two comes after it. Number three is the last of them."
SENTENCES = ["Number one is spoken first.", "Number two comes after it.", "Number three is the last of them."]


@pytest.fixture
def home(tmp_path: Path) -> Household:
    return Household(tmp_path)


def recording(home: Household) -> str:
    return str(speak("What time is it?", home.folder / "question.wav"))


@pytest.mark.shows("A24")
def test_after_an_utterance_was_accepted(home: Household) -> None:
    with home.running("run", "--input", recording(home), "--fast", "--output", str(home.folder / "1.wav")) as first:
        first.until("event_accepted")
        first.kill()
    assert home.states() != ["completed"]
    with home.running("run", "--once", "--fast", "--output", str(home.folder / "2.wav")) as second:
        assert second.finish() == 0
    assert home.states() == ["completed"]
    assert len(home.spoken()) == len(set(home.spoken())) >= 1


@pytest.mark.shows("A24")
async def test_after_the_model_was_asked(home: Household) -> None:
    import asyncio

    async with OpenAiServer() as server:
        gate = Gate()
        server.enqueue(reply(gate, COUNTED), reply(COUNTED))
        home.settings["model"] = {"provider": "openai", "base_url": server.url, "name": "m"}
        with home.running("run", "--input", recording(home), "--fast", "--output", str(home.folder / "1.wav")) as first:
            async with asyncio.timeout(120):
                await gate.reached.wait()
            first.kill()
        with home.running("run", "--once", "--fast", "--output", str(home.folder / "2.wav")) as second:
            assert await asyncio.to_thread(second.finish) == 0
        assert home.states() == ["completed"]
        assert home.spoken() == SENTENCES
        assert server.requests[1].messages == server.requests[0].messages


@pytest.mark.shows("A24")
@pytest.mark.parametrize("answer_was_whole", [True, False])
async def test_after_the_first_sentence_was_spoken(home: Household, answer_was_whole: bool) -> None:
    import asyncio

    async with OpenAiServer() as server:
        rest = [COUNTED] if answer_was_whole else [COUNTED[:60], Gate(), COUNTED[60:]]
        server.enqueue(reply(*rest), reply(COUNTED))
        home.settings["model"] = {"provider": "openai", "base_url": server.url, "name": "m"}
        with home.running("run", "--input", recording(home), "--output", str(home.folder / "1.wav")) as first:
            await asyncio.to_thread(first.until, "sentence_started")
            if answer_was_whole:
                await asyncio.to_thread(first.until, "model_answered")
            first.kill()
        assert home.spoken()[0] == SENTENCES[0]
        with home.running("run", "--once", "--fast", "--output", str(home.folder / "2.wav")) as second:
            assert await asyncio.to_thread(second.finish) == 0
        assert home.states() == ["completed"]
        assert home.spoken() == SENTENCES
        assert len(server.requests) == (1 if answer_was_whole else 2)
