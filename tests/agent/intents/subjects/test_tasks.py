"""What waits to be done, asked for and taken off the list without a model."""

import pytest

from tests.agent.offline_talk import Talk

WAITING = {
    "waiting": [
        {"id": "e1", "type": "asr_transcript", "words": "what is on your list", "when": "now", "priority": 10},
        {"id": "t1", "type": "timer", "words": "Timer 'tea' is due", "when": "2026-11-21 11:00:00 UTC", "priority": 20},
        {"id": "a", "type": "self_created", "words": "find a present for Ada", "when": "now", "priority": 0},
        {"id": "b", "type": "reflection", "words": "look at the week", "when": "now", "priority": -1},
    ]
}
NOTHING: dict[str, list[object]] = {"waiting": []}


@pytest.mark.shows("A15", "V30")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("What is on your list?", "On my list there is this: find a present for Ada; look at the week."),
        ("What are you working on?", "On my list there is this: find a present for Ada; look at the week."),
        ("你还有什么任务？", "我的清单上有：find a present for Ada；look at the week。"),
    ],
)
async def test_what_is_on_the_list_is_told(talk: Talk, words: str, said: str) -> None:
    talk.hear(words)
    assert await talk.calls(WAITING) == [("mailbox", {"action": "list"})]
    assert await talk.says() == said


@pytest.mark.shows("A15")
async def test_of_many_tasks_three_are_told_and_of_none_that_there_is_none(talk: Talk) -> None:
    many = [{"id": str(n), "type": "self_created", "words": f"part {n}"} for n in range(5)]
    for waiting, said in (
        ({"waiting": many}, "On my list there is this: part 0; part 1; part 2; and 2 more things."),
        (NOTHING, "There is nothing on my list."),
        ("error: it is broken", "That did not work: it is broken."),
    ):
        talk.hear("What do you have to do?")
        await talk.calls(waiting)
        assert await talk.says() == said


@pytest.mark.shows("A15")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("Take the present off your list.", "All right, I took this off my list: find a present for Ada."),
        ("Cancel the task present", "All right, I took this off my list: find a present for Ada."),
        ("把present从你的清单上去掉", "好的，已经从清单上去掉：find a present for Ada。"),
    ],
)
async def test_a_task_is_taken_off_by_a_part_of_its_words(talk: Talk, words: str, said: str) -> None:
    talk.hear(words)
    assert await talk.calls(WAITING) == [("mailbox", {"action": "list"})]
    assert await talk.calls("cancelled: find a present for Ada") == [("mailbox", {"action": "cancel", "id": "a"})]
    assert await talk.says() == said


@pytest.mark.shows("A15")
@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("the moon", "I find nothing like that on my list."),
        ("e", "There are several like that on my list. Say a little more of the one."),
        ("tea", "I find nothing like that on my list."),
    ],
)
async def test_what_is_not_one_task_alone_is_asked_back(talk: Talk, what: str, said: str) -> None:
    talk.hear(f"Take {what} off your list.")
    await talk.calls(WAITING)
    assert await talk.says() == said
