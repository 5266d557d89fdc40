import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.tts.speakable import pictograms_named, speakable, written_part


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
        ("#GoodMorning everyone", "hashtag Good Morning everyone"),
        ("> > She said so.", "She said so."),
        ("- milk", "milk"),
        ("* [x] two eggs", "two eggs"),
        ("• tea", "tea"),
        ("1. Wake up early.", "one. Wake up early."),
        ("- 5 degrees", "five degrees"),
        ("See [the *whole* page](https://example.com/a_b(c)?d=1) now.", "See the whole page now."),
        ("![A red cat](cat.png) sleeps.", "A red cat sleeps."),
        ("As was said[^1] before.", "As was said before."),
        ("Look at https://www.example.com/path/to?x=1.", "Look at example dot com."),
        ("Look at <https://example.com>, please.", "Look at example dot com, please."),
        ("Write to a.b@example.com today.", "Write to a dot b at example dot com today."),
        ("Run `apt install espeak_ng` first.", "Run apt install espeak ng first."),
        ("Use snake_case here.", "Use snake_case here."),
        ("2 * 3 * 4 is 24.", "two times three times four is twenty-four."),
        ("Tea<br>and <b>cake</b> &amp; more.", "Tea and cake and more."),
        ("It holds that 3 < 5 and 7 > 2.", "It holds that three is less than five and seven is greater than two."),
        ("Good morning! ☀️😀👨‍👩‍👧 Tea?", "Good morning! Tea?"),
        ("Press 5️⃣ → go.", "Press five go."),
        ("| Name | Price |\n|---|:---:|\n| Tea | 2 |", "Name, Price. Tea, two"),
        ("---\nAnd then?", "And then?"),
        ("He said **unfinished", "He said unfinished"),
        ("*Hello there.", "Hello there."),
        ("How are you?* I am (*fine*).", "How are you? I am (fine)."),
        ("这是*重点。", "这是重点。"),
        ("A 5* hotel, 2*3.", "A five* hotel, two times three."),
        ("Half \ud83d a smile\udcff.", "Half a smile ."),
        ("多行\n文字", "多行 文字"),
        ('{"response": "The tea is **ready**."}', "The tea is ready."),
        ('```json\n{"text": "The tea is ready."}\n```', "The tea is ready."),
        ('{"text": "Tea", "cups": "some"}', "text: Tea, cups: some"),
        ("The tea is ready.\\nCome, and\\n\\nsit down.", "The tea is ready. Come, and sit down."),
    ],
)
def test_markup_is_never_said_and_words_always_are(written: str, said: str) -> None:
    assert speakable(written, "en") == said


@pytest.mark.parametrize(
    ("written", "language", "said"),
    [
        ("It is **21:30**, and 20 °C.", "en", "It is twenty-one thirty, and twenty degrees Celsius."),
        ("现在是**21:30**，20 °C。", "zh", "现在是二十一点三十分，二十摄氏度。"),
        ("Es ist **21:30**, und 20 °C.", "de", "Es ist 21:30, und 20 °C."),
        ("- [the plan](http://x.org/1): 3–5 km", "en", "the plan: three to five kilometers"),
        ("Run `sleep 5` twice.", "en", "Run sleep five twice."),
        ("请看https://example.com/a，谢谢。", "zh", "请看example 点 com，谢谢。"),
    ],
)
def test_figures_are_read_in_the_language_of_the_sentence(written: str, language: str, said: str) -> None:
    assert speakable(written, language) == said


@pytest.mark.parametrize(
    ("written", "language", "said"),
    [
        ("- milk\n- two eggs\n- bread", "en", "milk. two eggs. bread"),
        ("Buy this:\n1. milk\n2. eggs!\nThen come.", "en", "Buy this: one. milk. two. eggs! Then come."),
        ("# Plan\nWe go on\nfoot.", "en", "Plan. We go on foot."),
        ("| Day | Rain |\n|---|---|\n| Friday | no |\n| Sunday | yes |", "de", "Day, Rain. Friday, no. Sunday, yes"),
        ("|名称|价格|\n|---|---|\n|茶|2元|\n|咖啡|3元|", "zh", "名称，价格。茶，两元。咖啡，三元"),
        ("- 牛奶\n- 鸡蛋", "zh", "牛奶。鸡蛋"),
        ("We go\non foot - or\nnot at all", "en", "We go on foot — or not at all"),
    ],
)
def test_between_rows_and_items_is_a_pause_and_none_within_a_sentence(written: str, language: str, said: str) -> None:
    assert speakable(written, language) == said


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (">5", "more than five"),
        (">100 people came.", "more than one hundred people came."),
        ("> 30 °C", "more than thirty degrees Celsius"),
        (">= 5 items", "at least five items"),
        ("> 5 people came, he wrote.", "five people came, he wrote."),
        (">She said so.", "She said so."),
        ("> > - He said so.", "He said so."),
    ],
)
def test_a_sign_before_a_number_compares_and_before_words_it_quotes(written: str, said: str) -> None:
    assert speakable(written, "en") == said


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("digits", ["0" * 20_000, "3." + "14" * 10_000])
def test_digits_without_end_cost_no_more_than_the_words_they_become(digits: str, language: str) -> None:
    # At a quadratic cost this would be minutes of a loop that hears nobody; the limit of a test ends it.
    assert len(speakable(digits, language)) >= len(digits)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Write &lt;b&gt; for bold, and 3 &lt; 5.", "Write b for bold, and three is less than five."),
        ("[^1]: A footnote.", "A footnote."),
        ('{"answer": "Paris", "is_sure": true, "more": ["Lyon", 2]}', "answer: Paris, is sure: true, more: Lyon, two"),
        ('  "answer": "Paris",', "answer: Paris"),
        ("{a} and [b]", "{a} and [b]"),
    ],
)
def test_what_is_written_for_programs_is_said_as_words(written: str, said: str) -> None:
    assert speakable(written, "en") == said


@pytest.mark.parametrize(
    ("text", "language", "said"),
    [
        ("😀😀", "en", "grinning face"),
        ("❤️ ☀️", "en", "heart, sun with rays"),
        ("👍🏽 😀", "en", "Okay."),
        ("👍", "zh", "好的。"),
        ("❌", "en", "No."),
        ("👍", "de", ""),
        ("😀", "zh", "一个表情。"),
        ("😀", "de", ""),
        ("…", "en", ""),
    ],
)
def test_pictograms_are_named_where_there_is_nothing_else(text: str, language: str, said: str) -> None:
    assert pictograms_named(text, language) == said


WEATHER = "It is **20 °C** today, and 3–5 km to the lake."


@pytest.mark.shows("V22")
@pytest.mark.parametrize(
    ("heard", "written"),
    [
        ("", ""),
        ("It", "It"),
        ("It is twenty", "It is"),
        ("It is twenty degrees", "It is"),
        ("It is twenty degrees Celsius", "It is **20 °C"),
        ("It is twenty degrees Celsius today", "It is **20 °C** today"),
        ("It is twenty degrees Celsius today, and three to five", "It is **20 °C** today, and"),
        ("It is twenty degrees Celsius today, and three to five kilometers", "It is **20 °C** today, and 3–5 km"),
        ("It is twenty degrees Celsius today, and three to five kilometers to the lake", WEATHER[:-1]),
        ("It is twenty degrees Celsius today, and three to five kilometers to the lake.", WEATHER),
    ],
)
def test_what_was_heard_is_found_in_what_is_written(heard: str, written: str) -> None:
    assert written_part(WEATHER, speakable(WEATHER, "en"), heard) == written


@pytest.mark.shows("V22")
def test_what_was_heard_of_chinese_is_found_character_by_character() -> None:
    written = "现在是21:30，天气很好。"
    said = speakable(written, "zh")

    assert written_part(written, said, "现在是二十一点") == "现在是"
    assert written_part(written, said, "现在是二十一点三十分，天气") == "现在是21:30，天气"


@given(st.text(alphabet=st.sampled_from("ab 12.:%-*$点三。"), max_size=60), st.integers(0, 80))
def test_the_heard_part_is_always_a_beginning_of_what_is_written(text: str, length: int) -> None:
    said = speakable(text, "en")

    assert text.startswith(written_part(text, said, said[:length]))
    assert written_part(text, said, said) == (text if said else "")


@pytest.mark.parametrize("written", ["", "  ", "---", "***", "…", "😀😀", "|---|---|", "```"])
def test_nothing_is_said_where_there_is_no_word(written: str) -> None:
    assert speakable(written, "de") == ""


def test_fenced_code_is_mentioned_and_not_read() -> None:
    code = "```python\nprint('hello')\n```"

    assert speakable(code, "en") == "Here is some code."
    assert speakable(code, "zh") == "这里有一段代码。"
    assert speakable(code, "fr") == ""
    assert speakable(f"Look:\n{code}\nThat was it.", "en") == "Look: Here is some code. That was it."


@pytest.mark.parametrize("block", ["```\n{}\n```", "```text\n{}\n```", "```\n{}"])
def test_sentences_in_a_block_are_no_code(block: str) -> None:
    assert speakable(block.format("It is nine. Good night."), "en") == "It is nine. Good night."
    assert speakable(block.format("今天九点。"), "zh") == "今天九点。"
    assert speakable(block.format("sudo apt update"), "en") == "Here is some code."
    assert speakable(block.format("x = 5."), "en") == "Here is some code."


@given(st.text(alphabet=st.characters(whitelist_categories=("Lu", "Ll")) | st.sampled_from(" .,!?"), max_size=80))
def test_plain_text_is_said_as_it_is_written(text: str) -> None:
    plain = " ".join(text.split())

    assert speakable(text, "de") in (plain, "")
    assert (speakable(text, "en") == "") == (not any(character.isalnum() for character in plain))


@given(st.text(alphabet=st.sampled_from("ab 1.*_`~#[]()!<>|-\n&;/:"), max_size=120))
def test_whatever_is_written_the_result_is_one_line_without_code_marks(text: str) -> None:
    said = speakable(text, "en")

    assert "\n" not in said
    assert said == said.strip()
    assert "`" not in said or text.startswith("```")
