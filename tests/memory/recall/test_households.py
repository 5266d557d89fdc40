"""What recall finds in the three households that were written for it, by words alone; counts, never times.

With a model that compares by meaning it finds more (`scripts/bench recall --embedder FOLDER`): no test needs one.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Final

import pytest
import pytest_asyncio
from msgspec import Struct

from benchmarks.recall.corpus import CHOOSE, REPORT, UNANSWERABLE, Household, sampled
from benchmarks.recall.finders import NakariFinder, opened
from benchmarks.recall.measuring import ask
from benchmarks.recall.scoring import abstentions, score
from benchmarks.recall.weaving import own_households
from memory.recall import Question
from tests.in_memory import folder_in_memory

pytestmark = pytest.mark.asyncio(loop_scope="module")

FLOOR: Final = 0.38
"""Least share of the evidence among the first ten, by words alone, of questions that mostly say it otherwise."""


class Home(Struct, frozen=True):
    """A household and what finds in it."""

    household: Household
    finder: NakariFinder


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def homes() -> AsyncIterator[list[Home]]:
    """The three, told and indexed once: asking changes nothing."""
    async with AsyncExitStack() as stack:
        found, place = [], stack.enter_context(folder_in_memory())
        for household in own_households():
            folder = place / household.name
            folder.mkdir()
            found.append(Home(household, await stack.enter_async_context(opened(household, folder))))
        yield found


@pytest.mark.shows("D4", "G3")
async def test_evidence_is_found_and_nothing_is_sure_that_was_not_said(homes: list[Home]) -> None:
    asked = [each for home in homes for each in await ask(sampled(home.household, REPORT), home.finder)]
    assert score(asked).at[1] >= FLOOR
    absent = [each.answer.sureness for each in asked if each.question.category == UNANSWERABLE]
    assert absent.count("sure") <= len(absent) // 8
    right, _ = abstentions(asked)
    assert right > 0, "nothing near is an answer"


@pytest.mark.shows("D4")
async def test_verbatim_words_bring_their_turn_back_first(homes: list[Home]) -> None:
    for home in homes:
        told = {turn.id: turn for turn in home.household.turns}
        evidence = [each for question in sampled(home.household, CHOOSE).questions for each in question.evidence]
        for turn in map(told.__getitem__, dict.fromkeys(evidence)):
            found = await home.finder.recall.find(Question(turn.words, limit=3), home.household.name)
            assert turn.words in [hit.words for hit in found.hits], turn.words
            assert found.sureness in ("sure", "likely")


@pytest.mark.shows("D4")
async def test_who_said_what_is_told_apart(homes: list[Home]) -> None:
    for home in homes:
        for question in home.household.questions:
            if question.speaker:
                asked = Question(question.words, speaker=question.speaker, limit=20)
                found = await home.finder.recall.find(asked, home.household.name)
                assert {hit.speaker for hit in found.hits} <= {question.speaker}


@pytest.mark.shows("D4")
async def test_a_time_alone_brings_back_what_was_said_in_it_and_nothing_else(homes: list[Home]) -> None:
    for home in homes:
        said = {turn.id: turn for turn in home.household.turns}
        for question in home.household.questions:
            if question.since and question.until:
                asked = Question(since=question.since, until=question.until, limit=len(said))
                found = await home.finder.recall.find(asked, home.household.name)
                within = [turn for turn in said.values() if question.since <= turn.at < question.until]
                assert len(found.hits) == len(within)
                assert {said[each].words for each in question.evidence} <= {hit.words for hit in found.hits}


@pytest.mark.shows("G3")
async def test_what_nobody_ever_spoke_of_is_answered_by_nothing(homes: list[Home]) -> None:
    never = ("Zanzibar yacht regatta sponsorship", "量子色动力学的重整化", "photovoltaic inverter firmware checksum")
    for home in homes:
        for words in never:
            found = await home.finder.recall.find(Question(words), home.household.name)
            assert (found.sureness, found.hits) == ("nothing", ())


@pytest.mark.shows("D4")
async def test_a_hit_has_its_date_and_what_stood_around_it(homes: list[Home]) -> None:
    home = homes[0]
    found = await home.finder.recall.find(Question("What does Biscuit look like?", limit=3), home.household.name)
    [asked] = [hit for hit in found.hits if hit.words.endswith("What does Biscuit look like?")]
    [turn] = [turn for turn in home.household.turns if turn.words.endswith("What does Biscuit look like?")]
    assert (asked.at, asked.speaker, asked.session) == (turn.at, "you", turn.session)
    assert [line.words for line in asked.before] == ["I got a hamster and he is called Biscuit!"]
    assert [line.words for line in asked.after] == ["He is brown with one white ear."]
