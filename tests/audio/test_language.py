import pytest

from audio.language import is_cjk, sentence_language


@pytest.mark.parametrize(
    ("text", "default", "language"),
    [
        ("What time is it?", "en", "en"),
        ("Wie spät ist es?", "de", "de"),
        ("现在几点了？", "en", "zh"),
        ("我用 Python 写代码。", "en", "zh"),
        ("Your meeting with 王伟 is at five.", "en", "en"),
        ("Your meeting with 王伟 is at five.", "zh", "zh"),
        ("Good morning, everybody.", "zh", "en"),
        ("Guten Morgen.", "ja", "en"),
        ("今日は良い天気です。", "en", "ja"),
        ("東京都", "ja", "ja"),
        ("안녕하세요, 반갑습니다.", "en", "ko"),
        ("Доброе утро!", "en", "ru"),
        ("Доброго ранку!", "uk", "uk"),
        ("Good morning, Анна, how are you?", "en", "en"),
        ("Good morning.", "ru", "en"),
        ("Dobro jutro.", "sr", "sr"),
        ("Καλημέρα.", "de", "el"),
        ("صباح الخير", "en", "ar"),
        ("صبح بخیر", "fa", "fa"),
        ("สวัสดี", "en", "th"),
        ("नमस्ते", "en", "hi"),
        ("早上好，Анна。", "en", "zh"),
        ("42", "zh", "zh"),
        ("", "en", "en"),
        ("What time is it?", "auto", "en"),
        ("What time is it?", "", "en"),
        ("现在几点了？", "auto", "zh"),
    ],
)
def test_the_script_tells_the_language_or_the_default_stands(text: str, default: str, language: str) -> None:
    assert sentence_language(text, default) == language


@pytest.mark.parametrize(
    ("character", "expected"), [("中", True), ("か", True), ("한", True), ("é", False), ("。", False)]
)
def test_cjk_characters_are_letters_not_punctuation(character: str, expected: bool) -> None:
    assert is_cjk(character) is expected
