"""The corpus of recall: its forms, what is woven, how it is journaled, and how it is scored."""

from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from appliance.wiring.memory.state import open_state
from benchmarks.recall.__main__ import households_of
from benchmarks.recall.corpus import (
    AGENT,
    CHOOSE,
    MISLEADING,
    REPORT,
    UNANSWERABLE,
    Household,
    Question,
    Turn,
    read_household,
    sampled,
    write_household,
)
from benchmarks.recall.feeding import Place, feed
from benchmarks.recall.finders import Answer, Bm25Finder
from benchmarks.recall.scoring import Asked, abstentions, score
from benchmarks.recall.weaving import own_households
from memory.state.tiers import TASK

DATA = Path(__file__).parents[1] / "data" / "recall"


@pytest.fixture(scope="module")
def households() -> list[Household]:
    return own_households()


def test_the_project_has_three_households_of_3000_turns_and_300_questions(households: list[Household]) -> None:
    assert sum(len(each.turns) for each in households) >= 3000
    assert sum(len(each.questions) for each in households) >= 300
    counted = Counter(question.category for each in households for question in each.questions)
    assert counted[UNANSWERABLE] >= 45
    assert {"fact", "update", "date", "who", "multi", "paraphrase", "other-language"} < counted.keys()
    assert households == own_households(), "the same at every call"


def test_evidence_passes_the_filters_of_its_question_and_is_of_its_own_use(households: list[Household]) -> None:
    for household in households:
        said = {turn.id: turn for turn in household.turns}
        uses: dict[str, set[str]] = {}
        assert [turn.at for turn in household.turns] == sorted(turn.at for turn in household.turns)
        for question in household.questions:
            assert bool(question.evidence) == (question.category != UNANSWERABLE)
            for turn in map(said.__getitem__, question.evidence):
                assert question.speaker in ("", turn.speaker)
                assert question.since is None or question.since <= turn.at
                assert question.until is None or turn.at < question.until
                uses.setdefault(turn.words, set()).add(question.use)
        assert all(len(of_turn) == 1 for of_turn in uses.values()), "no turn is chosen by and reported"


def test_a_household_is_written_and_read_back(tmp_path: Path, households: list[Household]) -> None:
    write_household(households[2], tmp_path / "cedar.json")
    assert read_household(tmp_path / "cedar.json") == households[2]
    reported = sampled(households[2], REPORT)
    assert 0 < len(reported.questions) < len(households[2].questions)
    assert len(reported.questions) + len(sampled(households[2], CHOOSE).questions) == len(households[2].questions)


def test_a_household_may_be_lines_of_json(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    at = "2026-01-03T08:00:00+00:00"
    file.write_text(
        f'{{"name": "two"}}\n{{"id": "1", "at": "{at}", "session": "s", "speaker": "Anna", "words": "Hello."}}\n'
        f'{{"id": "q", "words": "Who?", "asked_at": "{at}", "evidence": ["1"], "category": "who"}}\n',
        encoding="utf-8",
    )
    household = read_household(file)
    assert (household.name, household.turns[0].speaker, household.questions[0].evidence) == ("two", "Anna", ("1",))


def test_dialogues_of_two_people_are_read_in_the_order_of_their_sessions() -> None:
    [dialogue] = [each for each in households_of(DATA) if each.name == "made-up"]
    assert [turn.id for turn in dialogue.turns] == ["D1:1", "D1:2", "D2:1", "D10:1"]
    assert dialogue.turns[0].at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert dialogue.turns[1].words == "Look what I grew! (shows a picture: a pumpkin on a scale)"
    asked = [(question.category, question.evidence) for question in dialogue.questions]
    assert asked == [("single-hop", ("D2:1",)), ("multi-hop", ("D1:2", "D10:1")), (MISLEADING, ("D2:1",))]


def test_haystacks_are_read_by_date_with_the_turns_that_have_the_answer() -> None:
    ladder, bicycle = [each for each in households_of(DATA) if each.name.startswith("made-up-")]
    assert ladder.turns[0].words == "The ladder stands in the shed."
    [question] = ladder.questions
    assert [turn.words for turn in ladder.turns if turn.id in question.evidence] == [
        "I moved the ladder into the garage."
    ]
    assert ladder.turns[1].speaker == AGENT
    assert [(each.category, each.evidence) for each in bicycle.questions] == [(UNANSWERABLE, ())]


def test_a_folder_that_is_not_there_holds_no_household(tmp_path: Path) -> None:
    assert households_of(tmp_path / "absent") == []


@pytest.mark.shows("D4", "X8")
async def test_turns_are_journaled_at_their_dates_as_the_loop_does(tmp_path: Path) -> None:
    at = datetime(2025, 3, 1, 9, tzinfo=UTC)
    said = Turn("1", at, "room", "Anna", "My dentist is in Mill Lane.")
    answer = Turn("2", at, "room", AGENT, "I will keep that in mind. Shall I remind you of the appointment?")
    household = Household("home", (said, answer), ())
    async with open_state(tmp_path) as state:
        journal = state.journal
        places = await feed(household, journal)
        [event] = await journal.entries(topic=TASK)
        assert places == {Place(event.event_id, False): "1", Place(event.event_id, True): "2"}
        assert (event.at, event.owner_key, event.body["words"]) == (at, "home", said.words)
        [heard] = await journal.search("Mill Lane", "home")
        assert heard.event_id == event.event_id


async def test_bm25_finds_words_in_both_scripts() -> None:
    at = datetime(2025, 3, 1, 9, tzinfo=UTC)
    turns = (
        Turn("1", at, "room", "Anna", "The ladder is in the shed."),
        Turn("2", at, "room", "陈浩", "梯子在车库里。"),
    )
    with closing(Bm25Finder(Household("home", turns, ()))) as finder:
        for words, found in (("the shed?", "1"), ("车库", "2"), ("", None)):
            answer = await finder.find(Question("q", words, at, (), "fact"))
            assert next(iter(answer.hits), None) == found


def test_a_score_is_the_share_of_the_evidence_and_neighbours_count_apart() -> None:
    at = datetime(2025, 3, 1, 9, tzinfo=UTC)
    both = Question("q", "?", at, ("1", "2"), "multi")
    absent = Question("r", "?", at, (), UNANSWERABLE)
    found = Answer(("1", "9"), (frozenset({"1"}), frozenset({"9", "2"})), "likely")
    asked = [Asked("home", both, found, 0.1), Asked("home", absent, Answer((), ()), 0.1)]
    figures = score(asked)
    assert (figures.questions, figures.at, figures.all_at_ten, figures.shown_at_ten) == (1, (0.5, 0.5, 0.5), 0, 1)
    assert abstentions(asked) == (1, 0)
    assert abstentions([Asked("home", both, Answer(("1",), (), "nothing"), 0.1)]) == (0, 1)
