"""Stage directions that models write for a voice and a face they play: left out, and nothing else with them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.model.dialects.parts import Words
from agent.model.dialects.reader import TextReader, words_of
from agent.model.messages import ToolSpec
from tests.agent.model.test_text_reader import read

REPLY = ToolSpec("reply", "", {"properties": {"text": {"type": "string"}}, "required": ["text"]})

pytestmark = pytest.mark.shows("F1", "B12")


def left(text: str, size: int = 1) -> str:
    reader = TextReader([ToolSpec("memory_write", "", {}), ToolSpec("recall", "", {})])
    pieces = [part for start in range(0, len(text), size) for part in reader.feed(text[start : start + size])]
    return "".join(part.text for part in [*pieces, *reader.finish(is_cut=False)] if isinstance(part, Words))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("[happy] Hello there.", "Hello there."),
        ("*laughs* Sure.", "Sure."),
        ("*laughs*\n\nSure.", "Sure."),
        ("Here is one:\n\n*clears throat* Why?", "Here is one:\n\nWhy?"),
        ("(smiles) Sure. (winks)", "Sure. "),
        ("Sure! *winks* Bye.", "Sure! Bye."),
        ("Hello there *waves* How are you?", "Hello there How are you?"),
        ("Hello there *waves*", "Hello there "),
        ("Hello there. **smiling softly** Sit down.", "Hello there. Sit down."),
        ("[tone: warm] Good night. [short pause] Sleep well.", "Good night. Sleep well."),
        ("(in a soft, warm voice) Good night.", "Good night."),
        ("*clears throat* *tilts her head* Well.", "Well."),
        ("[laughs softly] That is good. [sigh]", "That is good. "),
        ("(Cheerfully) Done.", "Done."),
        ("*chuckles and shakes head* No.", "No."),
        ("It is done. *complete_event*", "It is done. "),
        ("It is done. `complete_event`", "It is done. "),
        ("It is done.\n`*complete_event*`", "It is done.\n"),
        ('It is done. [memory_write(text="tea")]', "It is done. "),
        ("（微笑）你好。", "你好。"),
        ("【开心】你好！（笑）今天好吗？", "你好！今天好吗？"),
        ("*轻轻地笑了笑* 好的。", "好的。"),
        ("好的。（点点头）", "好的。"),
        ("*complete_event*", ""),
        ("*lacht* Gern.", "Gern."),
        ("*thinks* Well.", "Well."),
        ("[Thinking: they greet me] Hello.", "Hello."),
        ("Hello.\n(Note: I have completed the event.)", "Hello.\n"),
        ("Hello. *(Event completed)*", "Hello. "),
        ("Hello.\n[End of response]", "Hello.\n"),
        ("(sourit doucement) Oui.", "Oui."),
        ("*Laughs* Sure.", "Sure."),
        ("Hello there\n*waves*\nHow are you?", "Hello there\n\nHow are you?"),
        ("A title\n\n*waves* hello there", "A title\n\nhello there"),
    ],
)
def test_a_direction_is_left_out(written: str, said: str) -> None:
    assert left(written) == said


@pytest.mark.parametrize(
    "text",
    [
        "I *really* mean it.",
        "*Really*, I mean it.",
        "**Milk**, *bread* and [1] eggs.",
        "- *Smiles*, by Ann\n- (Sad) songs",
        "* laughs\n* smiles",
        "The word is *laughs*.",
        "The verb *laughs* is in the third person.",
        "2 * 3 * 4 is 24, and a*b*c.",
        "[happy](https://example.org) is a link, and [1] a note.",
        "(See page 5.) [x] Done.",
        "*Smile* at them, and (please) *wave* back.",
        "It is in the `happy` branch (the calm one).",
        "`complete_event` is the tool that ends it.",
        "Use `memory_write` for that.",
        "*recall*",
        "*Waves* is a novel.",
        "*Smiles of a Summer Night* at ten. (Note: the event starts at six.)",
        "**Thinking.** It takes a while. *Smiling* helps.",
        'Such as "[happy]", "*laughs*", or\n"(smiles)".',
        "(555) 123-4567",
        "The snake_case name max_tokens and _one_ more.",
        "他说（大家都知道）很好。（完）",
        "我很开心。（见第三页）",
        "*The Great Gatsby* is a novel. (It is short.)",
        "These are there:\n\n- `memory_write`\n- `recall`\n- `complete_event`\n",
        "It has `recall`, `memory_write`\nand others.",
        "Juliet: (sighs) Ay me.\n**Romeo:** *whispers* She speaks.",
        "It is from the\n(friendly) neighbours.",
        "INT. KITCHEN\n\nBEN\n(laughing)\nWho else?\n\nANNA (softly)\nNobody.",
        "[Chorus]\nMerrily.\n\n[End]\nLife is but a dream.",
        "So:\n\n```c\nif (quiet)\n    return;\n```\n",
    ],
)
def test_what_a_person_would_write_is_said(text: str) -> None:
    assert left(text) == text


@pytest.mark.parametrize(
    "written",
    [
        "Hello. *laughs* <think>Hm.</think>Sure.",
        "[happy] nakari: Hello. Sure.",
        '*smiles* reply("Hello. Sure.")',
        "(smiles)\n\nThought: They greet me.\nFinal Answer: Hello. Sure.",
    ],
)
def test_behind_a_direction_all_else_is_read_as_without_it(written: str) -> None:
    said, calls, _ = read(written, [REPLY])
    assert said.strip() == "Hello. Sure." or calls == [("reply", '{"text": "Hello. Sure."}')]


def test_the_text_of_an_answer_and_of_a_reply_is_without_them() -> None:
    assert read("*laughs* Sure. (smiles)")[0].strip() == "Sure."
    assert words_of("[happy] Sure. *complete_event*").strip() == "Sure."


@given(
    words=st.lists(
        st.sampled_from([*"*()[]_` \n.a（）", "**", "laughs", "smile", "happy", "complete_event", "Sure", "好"]),
        max_size=12,
    ),
    size=st.integers(1, 7),
)
def test_no_cut_matters(words: list[str], size: int) -> None:
    text = "".join(words)
    assert left(text, size) == left(text, 10_000)


def test_what_nobody_hears_is_left_out_of_a_reply() -> None:
    assert words_of("\u200bHel\x00lo there.\ufeff") == "Hello there."
