"""Ears and mind as two processes of `nakari run`, a real nats-server between them: killed in the middle of a reply."""

import asyncio
import wave
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest

from appliance.config.load import load
from tests.agent.openai_server import OpenAiServer, ScriptedCall, reply
from tests.engine_servers import nats_program, nats_server
from tests.room.virtual_time import passed
from tests.service.process import Household, speak

STORY = [f"This is part {word} of it." for word in ("one", "two", "three", "four")]

SECTIONS: dict[str, dict[str, object]] = {"growth": {"reflect": False, "nights": False}}

pytestmark = pytest.mark.skipif(nats_program() is None, reason="there is no nats-server: scripts/nats fetches one")


def mind_of(folder: Path, name: str, url: str, model: OpenAiServer) -> Household:
    """Return a machine with a mind, on the engine at `url`."""
    machines: dict[str, object] = {"url": url, "role": "mind", "name": name}
    thinks: dict[str, object] = {"provider": "openai", "base_url": model.url, "name": "m", "api_key_env": "TEST_KEY"}
    return Household(folder, {**SECTIONS, "machines": machines, "model": thinks})


@asynccontextmanager
async def two_machines(folder: Path) -> AsyncIterator[tuple[Household, Household, OpenAiServer]]:
    """Give the ears' and the mind's folder, and the model that the mind asks."""
    nats = nats_server(folder / "nats")
    await asyncio.to_thread(nats.start)
    try:
        async with OpenAiServer() as model:
            ears = Household(folder / "ears", {"machines": {"url": nats.url, "role": "ears", "name": "kitchen"}})
            yield ears, mind_of(folder / "mind", "server", nats.url, model), model
    finally:
        nats.kill()


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(90):
        while not condition():
            await passed(0.05)


def ended(home: Household) -> list[str]:
    """Return what was heard whole, in order."""
    rows = home.rows(
        "SELECT json_extract(body, '$.heard') FROM journal "
        "WHERE topic = 'speech.sentence_ended' AND json_extract(body, '$.whole') ORDER BY seq"
    )
    return [str(row[0]) for row in rows]


def sound_seconds(path: Path) -> float:
    with wave.open(str(path)) as sound:
        samples = np.frombuffer(sound.readframes(sound.getnframes()), np.int16)
        return float(np.count_nonzero(np.abs(samples) > 100) / sound.getframerate())


@pytest.mark.shows("H10", "X17")
async def test_a_question_at_the_ears_is_answered_there_over_the_death_of_the_mind(tmp_path: Path) -> None:
    key = {"TEST_KEY": "sk-test"}
    question = await asyncio.to_thread(speak, "Hello there.", tmp_path / "question.wav")
    async with two_machines(tmp_path) as (ears, mind, model):
        done = ScriptedCall("complete_event", ('{"summary": "told"}',), "call_done")
        model.enqueue(reply(" ".join(STORY), also=[done]), reply("That is all there is.", also=[done]))
        heard = ("run", "--input", str(question), "--output", str(tmp_path / "answer.wav"))
        with mind.running("run", environment=key) as first:
            await asyncio.to_thread(first.until, "service_started")
            with ears.running(*heard) as service:
                await until(lambda: ears.state.exists() and (ears.state / "nakari.db").exists())
                await asyncio.to_thread(service.until, "sentence_started")
                first.kill()
                with mind.running("run", environment=key) as second:
                    await asyncio.to_thread(second.until, "run_finished")
                    await until(lambda: STORY[-1] in ended(ears))
                    assert await asyncio.to_thread(second.stop) == 0
                assert await asyncio.to_thread(service.stop) == 0
        assert [each for each in ears.spoken() if each in STORY] == STORY
        assert mind.states() == ["completed"]
        assert "Hello there" in model.requests[0].messages[-1]["content"]
    assert sound_seconds(tmp_path / "answer.wav") > 2


@pytest.mark.shows("H10", "X17")
async def test_the_second_mind_goes_on_at_the_same_ears(tmp_path: Path) -> None:
    key = {"TEST_KEY": "sk-test"}
    question = await asyncio.to_thread(speak, "Hello there.", tmp_path / "question.wav")
    async with two_machines(tmp_path) as (ears, mind, model):
        done = ScriptedCall("complete_event", ('{"summary": "told"}',), "call_done")
        model.enqueue(reply(" ".join(STORY), also=[done]), reply("That is all there is.", also=[done]))
        standby = mind_of(
            tmp_path / "standby", "attic", load(mind.write(), {"HOME": str(tmp_path)}).machines.url, model
        )
        heard = ("run", "--input", str(question), "--output", str(tmp_path / "answer.wav"))
        with mind.running("run", environment=key) as first:
            await asyncio.to_thread(first.until, "service_started")
            with standby.running("run", environment=key) as second:
                await asyncio.to_thread(second.until, "following")
                with ears.running(*heard) as service:
                    await asyncio.to_thread(service.until, "sentence_started")
                    first.kill()
                    await asyncio.to_thread(second.until, "mind_taken_over")
                    await asyncio.to_thread(second.until, "run_finished")
                    await until(lambda: STORY[-1] in ended(ears))
                    told = await asyncio.to_thread(standby.run, "status")
                    assert await asyncio.to_thread(service.stop) == 0
                assert await asyncio.to_thread(second.stop) == 0
        assert "attic leads, after server" in " ".join(told.stdout.split()), told.stderr
        assert "ears kitchen there" in " ".join(told.stdout.split())
        assert [each for each in ears.spoken() if each in STORY] == STORY
        assert standby.states() == ["completed"]


@pytest.mark.shows("H10", "X17")
async def test_ears_that_are_killed_in_a_reply_lose_only_the_sentence_under_way(tmp_path: Path) -> None:
    key = {"TEST_KEY": "sk-test"}
    question = await asyncio.to_thread(speak, "Hello there.", tmp_path / "question.wav")
    async with two_machines(tmp_path) as (ears, mind, model):
        done = ScriptedCall("complete_event", ('{"summary": "told"}',), "call_done")
        model.enqueue(reply(" ".join(STORY), also=[done]), reply("That is all there is.", also=[done]))
        with mind.running("run", environment=key) as thinks:
            await asyncio.to_thread(thinks.until, "service_started")
            first = ("run", "--input", str(question), "--output", str(tmp_path / "first.wav"))
            with ears.running(*first) as service:
                await asyncio.to_thread(service.until, "sentence_started")
                service.kill()
            with ears.running("run", "--role", "ears", "--output", str(tmp_path / "second.wav")) as service:
                await asyncio.to_thread(thinks.until, "run_finished")
                await until(lambda: STORY[-1] in ended(ears))
                assert await asyncio.to_thread(service.stop) == 0
            assert await asyncio.to_thread(thinks.stop) == 0
        assert sorted(each for each in ears.spoken() if each in STORY) == sorted(STORY)
        assert mind.states()[0] == "completed"
        assert set(mind.states()[1:]) <= {"withdrawn"}, "what was kept for ears that came late, once said"
