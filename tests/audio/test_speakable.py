import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.speakable import speakable


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("It is five o'clock.", "It is five o'clock."),
        ("It is **very** *warm* and ***dry***, ~~cold~~ today.", "It is very warm and dry, cold today."),
        ("__Note:__ _nobody_ minds.", "Note: nobody minds."),
        ("**Bold with *both* inside.**", "Bold with both inside."),
        ("**注意**：今天很*热*。", "注意：今天很热。"),
        ("这是**重点**内容。", "这是重点内容。"),
        ("## The plan", "The plan"),
        ("#hashtag stays", "#hashtag stays"),
        ("> > She said so.", "She said so."),
        ("- milk", "milk"),
        ("* [x] two eggs", "two eggs"),
        ("• tea", "tea"),
        ("1. Wake up early.", "1. Wake up early."),
        ("- 5 degrees", "5 degrees"),
        ("See [the *whole* page](https://example.com/a_b(c)?d=1) now.", "See the whole page now."),
        ("![A red cat](cat.png) sleeps.", "A red cat sleeps."),
        ("As was said[^1] before.", "As was said before."),
        ("Look at https://www.example.com/path/to?x=1.", "Look at example.com."),
        ("Look at <https://example.com>, please.", "Look at example.com, please."),
        ("请看https://example.com/a，谢谢。", "请看example.com，谢谢。"),
        ("Write to a.b@example.com today.", "Write to a.b@example.com today."),
        ("Run `apt install espeak_ng` first.", "Run apt install espeak ng first."),
        ("Use snake_case here.", "Use snake_case here."),
        ("2 * 3 * 4 is 24.", "2 * 3 * 4 is 24."),
        ("Tea<br>and <b>cake</b> &amp; more.", "Tea and cake & more."),
        ("It is 3 < 5 and 7 > 2.", "It is 3 < 5 and 7 > 2."),
        ("Good morning! ☀️😀👨‍👩‍👧 Tea?", "Good morning! Tea?"),
        ("Press 5️⃣ → go.", "Press 5 go."),
        ("| Name | Price |\n|---|:---:|\n| Tea | 2 |", "Name, Price Tea, 2"),
        ("---\nAnd then?", "And then?"),
        ("He said **unfinished", "He said unfinished"),
        ("多行\n文字", "多行 文字"),
    ],
)
def test_markup_is_never_said_and_words_always_are(written: str, said: str) -> None:
    assert speakable(written, "en") == said


@pytest.mark.parametrize("written", ["", "  ", "---", "***", "…", "😀😀", "|---|---|", "```"])
def test_nothing_is_said_where_there_is_no_word(written: str) -> None:
    assert speakable(written, "de") == ""


def test_fenced_code_is_mentioned_and_not_read() -> None:
    code = "```python\nprint('hello')\n```"

    assert speakable(code, "en") == "Here is some code."
    assert speakable(code, "zh") == "这里有一段代码。"
    assert speakable(code, "fr") == ""


@given(st.text(alphabet=st.characters(whitelist_categories=("Lu", "Ll", "Nd")) | st.sampled_from(" .,!?"), max_size=80))
def test_plain_text_is_said_as_it_is_written(text: str) -> None:
    plain = " ".join(text.split())

    assert speakable(text, "en") in (plain, "")
    assert (speakable(text, "en") == "") == (not any(character.isalnum() for character in plain))


@given(st.text(alphabet=st.sampled_from("ab 1.*_`~#[]()!<>|-\n&;/:"), max_size=120))
def test_whatever_is_written_the_result_is_one_line_without_code_marks(text: str) -> None:
    said = speakable(text, "en")

    assert "\n" not in said
    assert said == said.strip()
    assert "`" not in said or text.startswith("```")
