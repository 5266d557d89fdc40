"""Phrases are read back as they were said: a list, a sum and a question of the offline model live in its answers."""

import pytest

from agent.intents.intent import Language
from agent.intents.saying.phrases import gaps, phrase


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("list_added", {"list": "weekend shopping", "items": "milk, 1.5 l, oil"}),
        ("list_has", {"item": "oat milk", "list": "shopping"}),
        ("sum", {"value": "1,234.5"}),
        ("did_you_mean", {"words": "set a timer for ten minutes"}),
    ],
)
def test_what_was_said_is_read_back(name: str, values: dict[str, str], language: Language) -> None:
    said = phrase(name, language, **values)
    assert gaps(name, said, language) == values


def test_it_is_found_behind_another_sentence() -> None:
    said = phrase("list_removed", "en", list="shopping", items="milk")
    assert gaps("list_removed", f"All right. {said}", "en") == {"list": "shopping", "items": "milk"}


def test_another_phrase_is_not_read() -> None:
    assert gaps("list_added", phrase("list_cleared", "en", list="shopping"), "en") == {}
