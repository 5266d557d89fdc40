"""Ears and mind in two network namespaces: a way that loses and delays, and is cut in the middle of a reply."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.agent.openai_server import OpenAiServer, ScriptedCall, reply
from tests.engine_servers import nats_program
from tests.machines.namespaces import Places, joined, why_not
from tests.machines.two_machines import PORT, nats_beside_the_mind, two_machines
from tests.service.process import Household, speak
from tests.service.test_ears_and_mind import SECTIONS, STORY, ended, until

SECONDS = 120
"""The most that it may take on a loaded machine."""


@pytest.mark.shows("H10")
async def test_a_reply_that_is_cut_in_the_middle_is_spoken_whole_in_order_and_once(tmp_path: Path) -> None:
    if reason := why_not() or (None if nats_program() else "no nats-server that is new enough (scripts/nats fetch)"):
        pytest.skip(reason)
    with joined(seed=18) as places:
        wire = places.wire
        wire.delay, wire.jitter, wire.loss = 0.04, 0.01, 0.02
        async with asyncio.timeout(SECONDS), two_machines(tmp_path, places) as talk:
            await talk.says(1)
            assert [spoken.number for spoken in await talk.hears()] == [1]
            await talk.says(12)
            reply = await talk.hears(3)
            wire.is_cut = True
            await talk.says(1)
            await wire.until_cut_off(4)
            wire.is_cut = False
            reply += await talk.hears(10)
    assert [spoken.number for spoken in reply] == [*range(1, 13), 1], "what was said meanwhile is answered after it"
    assert len({spoken.event_id for spoken in reply}) == 2


def household(folder: Path, places: Places, model: OpenAiServer) -> tuple[Household, Household]:
    """Return the ears of the first namespace, and the mind of the second."""
    ears: dict[str, object] = {"url": f"nats://{places.addresses[1]}:{PORT}", "role": "ears", "name": "kitchen"}
    mind: dict[str, object] = {"url": f"nats://127.0.0.1:{PORT}", "role": "mind", "name": "server"}
    thinks: dict[str, object] = {"provider": "openai", "base_url": model.url, "name": "m", "api_key_env": "TEST_KEY"}
    sections = {**SECTIONS, "machines": mind, "model": thinks}
    return Household(folder / "ears", {"machines": ears}), Household(folder / "mind", sections)


@pytest.mark.shows("H10")
async def test_the_real_roles_answer_over_a_bad_way_that_is_cut_in_mid_reply(tmp_path: Path) -> None:
    """`nakari run` in each: spoken at the ears, thought elsewhere, answered there, whole, in order and once."""
    if reason := why_not() or (None if nats_program() else "no nats-server that is new enough (scripts/nats fetch)"):
        pytest.skip(reason)
    question = await asyncio.to_thread(speak, "Hello there.", tmp_path / "question.wav")
    heard = ("run", "--input", str(question), "--output", str(tmp_path / "answer.wav"))
    with joined(seed=20) as places:
        wire = places.wire
        wire.delay, wire.jitter, wire.loss = 0.04, 0.01, 0.02
        async with asyncio.timeout(2 * SECONDS), AsyncExitStack() as stack:
            await stack.enter_async_context(nats_beside_the_mind(tmp_path, places))
            with places.entered(1):
                model = await stack.enter_async_context(OpenAiServer())
            done = ScriptedCall("complete_event", ('{"summary": "told"}',), "call_done")
            model.enqueue(reply(" ".join(STORY), also=[done]), reply("That is all there is.", also=[done]))
            ears, mind = household(tmp_path, places, model)
            stack.enter_context(wire.carrying())
            thinks = stack.enter_context(mind.running("run", environment={"TEST_KEY": "sk-test"}, by=places.inside(1)))
            await asyncio.to_thread(thinks.until, "service_started")
            hears = stack.enter_context(ears.running(*heard, by=places.inside(0)))
            await asyncio.to_thread(hears.until, "sentence_started")
            wire.is_cut = True
            await wire.until_cut_off(4)
            wire.is_cut = False
            await until(lambda: STORY[-1] in ended(ears))
            await asyncio.to_thread(thinks.until, "run_finished")
    assert [each for each in ears.spoken() if each in STORY] == STORY
    assert len(model.requests) == 1, "it was thought once"
