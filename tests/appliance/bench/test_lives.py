"""A week of two households, lived by a simple-minded agent that knows what its tools give it, and no more."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from appliance.bench.generator import Examination, Generator, Kind, Life
from appliance.bench.rehearsal import LeapingLoop, Lived, Rehearsal, rehearsing
from appliance.config.agent.own_work import GrowthSettings
from benchmarks.self.half_year import BEGINS, SIMPLE, config_in
from tests.figures import figure
from tests.in_memory import folder_in_memory

WEEKS = 1
"""Of the 26 that `benchmarks.self.half_year` lives through."""
QUESTION = "Where is the spare key kept now?"
ASKED = Examination(now=8, before=6, since=4, who=4, forgotten=1, absent=20)
OF_THE_OTHER = Examination(now=3, before=1, since=1, who=1, forgotten=1, absent=10)
"""The other one is there to be another."""


@dataclass
class Household:
    """A life that was lived, and what was answered to the question at its end."""

    life: Life
    lived: Lived
    answer: str
    told: str
    """What was said in the event that the answer names."""
    node: dict[str, object]
    """What the graph has at the node that it names."""


def lives(folder: Path, seed: int, asked: Examination) -> Household:
    """Live through the weeks; return what came of it."""
    folder.mkdir()
    life, lived = Generator(seed, WEEKS, BEGINS, UTC).life(asked), Lived()

    async def story() -> Household:
        begins = datetime.combine(BEGINS, datetime.min.time(), UTC)
        async with rehearsing(config_in(folder), folder, begins, lambda done, of: None, SIMPLE) as rehearsal:
            await rehearsal.live(life, lived)
            answer = await rehearsal.say(QUESTION, "Anna")
            return Household(life, lived, answer, *await cited(rehearsal, answer))

    with asyncio.Runner(loop_factory=LeapingLoop) as runner:
        return runner.run(story())


async def cited(rehearsal: Rehearsal, answer: str) -> tuple[str, dict[str, object]]:
    """Return the words of the event that an answer names, and what the node has that it names."""
    event_id, _, node = answer.partition(" [")[2].removesuffix("]").partition(", node ")
    filed = await rehearsal.box.household.mailbox.find(event_id)
    writer = rehearsal.box.graph.writer
    assert filed is not None
    assert writer is not None
    look = "MATCH (n) WHERE elementId(n) = $id RETURN n.value AS value, n.event AS event"
    found = await writer.graph.read(look, {"id": node})
    return filed.event.content, {**found.records[0], "cited": event_id}


@pytest.fixture(scope="module")
def households() -> tuple[Household, Household]:
    with folder_in_memory() as folder:
        return lives(folder / "one", 1, ASKED), lives(folder / "other", 3, OF_THE_OTHER)


@pytest.fixture(scope="module")
def one(households: tuple[Household, Household]) -> Household:
    return households[0]


def right(household: Household, *kinds: Kind) -> tuple[int, int]:
    """Return how many questions of these kinds were answered rightly, and how many were asked."""
    of_kind = [each for each in household.lived.verdicts if each.probe.kind in kinds]
    return sum(each.is_right for each in of_kind), len(of_kind)


@pytest.mark.shows("C16", "D4")
def test_two_lives_answer_one_question_each_out_of_its_own(households: tuple[Household, Household]) -> None:
    one, other = households
    assert one.answer != other.answer
    for each in households:
        value = str(each.node["value"])
        assert each.answer.startswith(f"{value} [")
        assert value in each.told, "the event that it names says so"
        assert each.node["event"] == each.node["cited"], "and so does the node"
    words = {each.words for each in other.life.said}
    assert one.told not in words


@pytest.mark.shows("D4", "G3")
def test_facts_updates_and_who_said_them_are_known(one: Household) -> None:
    for kinds in (("now",), ("before",), ("since",), ("who",)):
        known, asked = right(one, *kinds)
        assert known == asked >= 3, kinds
    answers = [each for each in one.lived.verdicts if each.probe.expected]
    assert all(each.cites for each in answers)


@pytest.mark.shows("G3")
def test_what_nobody_ever_said_it_does_not_know(households: tuple[Household, Household]) -> None:
    honest, asked = map(sum, zip(*(right(each, "absent") for each in households), strict=True))
    figure("questions about what nobody ever said, answered by not knowing it", f"{honest} of {asked}")
    assert asked == 30
    assert honest >= 0.9 * asked


def test_what_was_to_be_forgotten_is_nowhere(households: tuple[Household, Household]) -> None:
    for each in households:
        assert each.life.secrets
        assert right(each, "forgotten") == (1, 1)
        assert each.lived.memory.leaked == ()


@pytest.mark.shows("G11", "G15")
def test_the_nights_leave_the_memory_tidy_and_keep_to_their_purse(one: Household) -> None:
    memory, spent = one.lived.memory, one.lived.spent
    assert memory.orphans + memory.duplicates < 0.02 * memory.nodes
    assert len(one.lived.nights) >= 7 * WEEKS
    assert max(one.lived.nights) <= GrowthSettings().night_tokens
    days = {each.at.date() for each in one.life.said}
    assert len(spent["reflection"].events) >= len(days), "each conversation was looked back on, questions too"
    assert one.lived.idle_calls == 0
