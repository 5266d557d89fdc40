"""A timer that rings beside the mind: it is told so, and without a model it does not repeat it."""

import pytest

from agent.context.situation import rang
from agent.event import TIMER, USER_TEXT, Event
from agent.mailbox import Lease
from tests.agent.offline_talk import Talk

DUE = "Timer 'pasta' (10 minutes) is due."


@pytest.mark.shows("V23")
def test_it_is_told_of_a_timer_and_of_nothing_else() -> None:
    assert rang(Lease(Event(TIMER, DUE))) == {"Rang": "yes"}
    assert rang(Lease(Event(USER_TEXT, "has the timer rung?"))) == {}


@pytest.mark.shows("V23", "V30")
async def test_without_a_model_what_rang_is_not_said_again(talk: Talk) -> None:
    talk.happen(DUE, TIMER, Rang="yes")
    assert [name for name, _ in await talk.answer()] == ["complete_event"]
    assert talk.messages[-1].content == ""


async def test_what_did_not_ring_is_said(talk: Talk) -> None:
    talk.happen(DUE, TIMER)
    assert await talk.says() == "Time is up: pasta."
