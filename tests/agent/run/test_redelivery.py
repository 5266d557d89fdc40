"""What broke off in a crash is resumed; suspended work that comes back is not: neither is taken for the other."""

from pathlib import Path

import pytest

from agent.context import block
from agent.context.epochs import MESSAGE
from agent.mailbox import Lease, Wake
from agent.model.messages import Message
from agent.replies import SENTENCE_STARTED
from agent.run.opening import block_of, said_since
from memory.errors import StateUnusable
from memory.state.journal import Stored
from tests.agent.mailboxes import Rig, filed, work
from tests.agent.mind import a_mind, spoken
from tests.fakes import ScriptedModel, calls

WAITS = ("suspend_event", '{"note": "still waiting", "wake_on": "parcel"}')


@pytest.mark.shows("A24")
async def test_an_event_is_redelivered_until_it_is_suspended(rig: Rig) -> None:
    await filed(rig, work(id="w"))
    assert not (await rig.take_now()).redelivered
    await rig.restart()
    assert (await rig.take_now()).redelivered
    await rig.mailbox.suspend("w", "later", Wake("time", rig.clock.after(10)))
    rig.clock.advance(10)
    hand = await rig.take_now()
    assert (hand.redelivered, hand.attempt) == (False, 2)


@pytest.mark.shows("A24", "A6", "A14")
async def test_work_that_once_crashed_thinks_anew_each_time_it_comes_back_with_the_same_note(tmp_path: Path) -> None:
    event = spoken("tell me when the parcel is here")
    model = ScriptedModel(*(calls(WAITS, prefix=name) for name in "abc"), calls(("complete_event", "{}"), prefix="d"))
    async with a_mind(tmp_path, [model]) as mind:
        await mind.mailbox.enqueue(event)
        await mind.mailbox.take()
    async with a_mind(tmp_path, [model]) as mind:
        await mind.handle_next()
        for _ in range(3):
            await mind.mailbox.wake("parcel")
            await mind.handle_next()
        assert await mind.state_of(event) == "completed"
    assert len(model.requests) == 4


@pytest.mark.shows("B1", "A6")
async def test_work_whose_disk_was_once_full_thinks_anew_each_time_it_comes_back(tmp_path: Path) -> None:
    event = spoken("tell me when the parcel is here")
    model = ScriptedModel(*(calls(WAITS, prefix=name) for name in "abc"), calls(("complete_event", "{}"), prefix="d"))
    async with a_mind(tmp_path, [model]) as mind:
        await mind.mailbox.enqueue(event)
        mind.disk.full_at = "runs.new"
        with pytest.raises(StateUnusable):
            await mind.handle_next()
        await mind.handle_next()
        for _ in range(3):
            await mind.mailbox.wake("parcel")
            await mind.handle_next()
        assert await mind.state_of(event) == "completed"
    assert len(model.requests) == 4


def handed_over(event_id: str, note: str) -> Stored:
    hand = Lease(work(id=event_id))
    text = block.render(block_of(hand, 10, hand.event.created_at, {"Note": note} if note else {}))
    return Stored(MESSAGE, {"message": Message("user", text).to_json()})


def sentence(words: str) -> Stored:
    return Stored(SENTENCE_STARTED, {"words": words})


@pytest.mark.shows("A24", "F6")
def test_what_was_said_before_work_was_put_aside_may_be_said_again_and_nothing_since() -> None:
    answer = Stored(MESSAGE, {"message": Message("assistant", "One moment.").to_json()})
    entries = [
        handed_over("w", ""), sentence("One moment."), answer, handed_over("another", "still waiting"),
        sentence("Not yet."), handed_over("w", "still waiting"), sentence("It is here."), sentence("At the door."),
    ]  # fmt: skip
    assert said_since(entries, "w", "still waiting") == ("It is here.", "At the door.")
    assert said_since(entries, "w", "") == ("One moment.", "Not yet.", "It is here.", "At the door.")
