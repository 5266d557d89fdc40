"""What a new epoch takes along: whole last turns within both limits, always a legal list."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.context import history
from agent.context.block import Block, render
from agent.context.recollection import RECENT
from agent.context.remembered import REMEMBERED
from agent.model.messages import Message, ToolCall
from tests.agent.mind import NOON


def turn(number: int, calls: int, answered: bool = True) -> list[Message]:
    made = tuple(ToolCall(f"{number}-{n}", "reply", '{"text": "t"}') for n in range(calls))
    results = [Message("tool", "ok", tool_call_id=call.id) for call in made] if answered else []
    return [Message("user", f"u{number}"), Message("assistant", "a", made), *results]


@given(st.lists(st.integers(0, 3), max_size=8), st.integers(0, 25), st.integers(0, 25))
def test_what_is_taken_is_a_suffix_of_whole_turns_within_both_limits(
    calls: list[int], max_messages: int, max_tokens: int
) -> None:
    turns = [turn(number, count) for number, count in enumerate(calls)]
    taken = history.newest(turns, max_messages, max_tokens, lambda _: 1)
    assert taken == turns[len(turns) - len(taken) :]
    count = sum(map(len, taken))
    assert count <= min(max_messages, max_tokens)
    left = turns[: len(turns) - len(taken)]
    assert not left or count + len(left[-1]) > min(max_messages, max_tokens), "as much as fits is taken"


def test_a_turn_with_an_unanswered_call_is_left_behind() -> None:
    assert history.newest([turn(0, 1), turn(1, 1, answered=False)], 100, 100, lambda _: 1) == []


def test_the_digest_tells_who_said_what_in_bounded_lines() -> None:
    said = render(Block("e", "asr_transcript", "mic", "my keys are in the drawer", True, 3))
    ringing = render(Block("e", "timer", "timer", "Timer tea is due.", False, 3))
    answer = Message("assistant", tool_calls=(ToolCall("c", "reply", '{"text": "Noted."}'),))
    digest = history.digest(
        [Message("user", said), answer, Message("tool", "delivered"), Message("user", ringing)] * 20
    )
    assert "earlier, a person: my keys are in the drawer" in digest
    assert 'you: {"text": "Noted."}' in digest
    assert "timer: Timer tea is due." in digest
    assert len(digest.splitlines()) == history.DIGEST_LINES


@pytest.mark.shows("F12")
@pytest.mark.parametrize("part", [RECENT, REMEMBERED])
def test_what_a_block_tells_of_earlier_events_goes_with_one_that_is_forgotten(part: str) -> None:
    block = Block("kept", "user_text", "cli", "words", True, 10, NOON, {part: "the plum", "Note": "stays"})
    [left] = history.without([Message("user", render(block))], ["forgotten"])
    assert "the plum" not in left.content
    assert "stays" in left.content
