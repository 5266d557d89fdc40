"""What a client is told, whatever a model wrote."""

import json

from appliance.live.messages import AnswerMessage, as_text


def test_half_a_character_is_told_as_a_question_mark() -> None:
    text = as_text(AnswerMessage.model_construct(id="t", payload={"name": "\ud83d", "words": "你好"}))
    text.encode()
    assert json.loads(text)["payload"] == {"name": "?", "words": "你好"}
