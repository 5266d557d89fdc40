"""A prompt that its owner has changed holds from their next event on; nobody else's context begins anew for it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent.model.messages import ToolSpec
from tests.agent.mind import EachStep, TestMind, a_mind, spoken
from tests.fakes import ScriptedModel, calls

pytestmark = pytest.mark.shows("F14", "D14")

REPLY = ("reply", '{"text": "Yes."}')
COMPRESS = ("compress_context", '{"summary": "we spoke of plums"}')


@dataclass
class Theirs:
    """A prompt each."""

    texts: dict[str, str] = field(default_factory=lambda: {"ada": "You are ada's.", "bob": "You are bob's."})

    async def system(self, owner_key: str, tools: Sequence[ToolSpec]) -> str:
        return self.texts[owner_key]


async def ask(mind: TestMind, owner: str, session: str = "room") -> None:
    await mind.handle(spoken("plums", owner_key=owner, session_id=session))


def prompts(model: ScriptedModel) -> list[str]:
    return [request[0].content for request in model.requests]


async def test_it_holds_in_each_of_their_sessions_and_in_nobody_else_s(tmp_path: Path) -> None:
    model, theirs = ScriptedModel(*(calls(REPLY, prefix=f"c{n}") for n in range(7))), Theirs()
    async with a_mind(tmp_path, [model], system=theirs) as mind:
        for owner, session in (("ada", "room"), ("ada", "desk"), ("bob", "room")):
            await ask(mind, owner, session)
        theirs.texts = {"ada": "You are a pirate.", "bob": "You are a pirate."}
        mind.mind.contexts.renew("ada")
        for owner, session in (("ada", "room"), ("ada", "desk"), ("bob", "room"), ("ada", "room")):
            await ask(mind, owner, session)
        opened = await mind.journal.entries(topic="context.epoch", owner_key="ada", session_id="room")
    assert prompts(model)[3:] == ["You are a pirate.", "You are a pirate.", "You are bob's.", "You are a pirate."]
    assert len(opened) == 2, "once"
    assert model.requests[6][: len(model.requests[3])] == model.requests[3], "and then it only grows again"


@pytest.mark.parametrize(
    "round_of", [[calls(REPLY, prefix="b")], [calls(COMPRESS, prefix="b"), calls(REPLY, prefix="d")]]
)
async def test_what_is_changed_while_an_event_is_in_hand_holds_after_it(tmp_path: Path, round_of: list[object]) -> None:
    model, theirs = ScriptedModel(calls(REPLY, prefix="a"), *round_of, calls(REPLY, prefix="e")), Theirs()  # type: ignore[arg-type]  # rounds
    async with a_mind(tmp_path, [model], system=theirs) as mind:
        await ask(mind, "ada")

        is_in_hand = True

        def change() -> None:
            if is_in_hand:
                theirs.texts["ada"] = "You are a pirate."
                mind.mind.contexts.renew("ada")

        mind.loop.observe(EachStep(change))
        await mind.mailbox.enqueue(spoken("plums again", owner_key="ada"))
        hand = await mind.mailbox.take()
        await mind.loop.handle(hand)
        is_in_hand = False
        await ask(mind, "ada")
    assert set(prompts(model)[:-1]) == {"You are ada's."}, "the event in hand goes on as it began"
    assert prompts(model)[-1] == "You are a pirate."
