"""What another machine sends is a message, or none: nothing of it stops who reads it."""

import json

import pytest

from agent.event import ASR_TRANSCRIPT, Event
from appliance.machines.wire import NoMessage, Presence, Sentence, Turn, pack, unpack

pytestmark = pytest.mark.shows("E11")

TURN = Turn("kitchen", "Kitchen", Event(ASR_TRANSCRIPT, "what time is it"))
SENTENCE = Sentence(1, "e", "r", 1, "It is ten.", "en", until="2026-11-28T10:00:00+00:00")


@pytest.mark.parametrize("message", [TURN, SENTENCE])
def test_a_message_comes_as_it_was_sent(message: Turn | Sentence) -> None:
    assert unpack(pack(message)) == message


@pytest.mark.parametrize(
    "wrong",
    [
        {"metadata": {"x": float("inf")}},
        {"importance": float("nan")},
        {"priority": 10**30},
        {"created_at": "9999-12-31T23:59:59-14:00"},
        {"not_before": "0001-01-01T00:00:00+14:00"},
        {"created_at": "2026-11-28T10:00:00"},
        {"content": 5},
    ],
)
def test_an_event_that_cannot_be_kept_is_none(wrong: dict[str, object]) -> None:
    told = json.loads(pack(TURN))
    with pytest.raises(NoMessage):
        unpack(json.dumps({**told, "event": {**told["event"], **wrong}}).encode())


@pytest.mark.parametrize("until", ["x", "2026-11-28T10:00:00"])
def test_a_sentence_until_no_moment_is_none(until: str) -> None:
    with pytest.raises(NoMessage):
        unpack(json.dumps({**json.loads(pack(SENTENCE)), "until": until}).encode())


def test_half_a_character_is_told_as_a_question_mark() -> None:
    told = json.loads(pack(Presence("server", "mind", epoch=4)))
    assert unpack(json.dumps({**told, "machine": "\ud83d"}).encode()) == Presence("?", "mind", epoch=4)
