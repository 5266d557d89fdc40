"""Characters of both standards: one for one, so that places in a text stay."""

import pytest

from memory.chinese import simplified, traditional


@pytest.mark.shows("X10")
def test_what_whisper_writes_in_traditional_characters_is_simplified() -> None:
    assert simplified("打開客廳的燈。") == "打开客厅的灯。"
    assert simplified("把鬧鐘設在七點十分") == "把闹钟设在七点十分"
    assert traditional("打开客厅的灯") == "打開客廳的燈"


@pytest.mark.parametrize("text", ["", "Turn on the light.", "打开客厅的灯", "Wi-Fi é 💡"])
def test_everything_else_stays_as_it_is(text: str) -> None:
    assert simplified(text) == text


@pytest.mark.parametrize("text", ["請打開 Bed Light，謝謝！", "乾衣機、後天、裡面"])
def test_no_text_grows_or_shrinks(text: str) -> None:
    assert len(simplified(text)) == len(traditional(text)) == len(text)
