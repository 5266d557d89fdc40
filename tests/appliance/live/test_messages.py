"""What a client is told, whatever a model wrote."""

import json
from datetime import UTC, datetime

from appliance.live.messages import AnswerMessage, as_text

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)


def test_half_a_character_is_told_as_a_question_mark() -> None:
    text = as_text(AnswerMessage(id="t", at=NOON, payload={"name": "\ud83d", "words": "你好"}))
    text.encode()
    assert json.loads(text)["payload"] == {"name": "?", "words": "你好"}


def test_a_number_that_json_has_not_is_told_as_none() -> None:
    told = json.loads(as_text(AnswerMessage(id="t", at=NOON, payload={"level": float("-inf")})))
    assert told["payload"] == {"level": None}
