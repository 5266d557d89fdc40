from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audio.tts.sentences import LONGEST, LONGEST_WORD, SentenceSplitter


def split(text: str) -> list[str]:
    splitter = SentenceSplitter()
    return splitter.feed(text) + splitter.finish()


def told(text: str) -> list[str]:
    """What is known before anybody says that the text is whole."""
    return SentenceSplitter().feed(text)


@pytest.mark.shows("V21")
@pytest.mark.parametrize(
    "text",
    [
        "It is five o'clock. | The kettle is on. | Shall I pour?",
        "Hi. | How are you today? | I am fine, thank you!",
        "Hello there! | Yes. I have set the timer for you. | It rings at noon.",
        "Mr. Smith called at 2:30 p.m. about the 3.5 percent. | He will call again.",
        "The meeting ended at 5 p.m. | Everybody went home.",
        "She lived in the U.S. Army base for years. | Then she left.",
        "Buy fruit, e.g. apples, pears etc. and bread. | Then come home.",
        "J. R. R. Tolkien wrote it. | You know that.",
        "It is 20 °C. | Tomorrow it will be 25 °C. | Take a hat.",
        "No. | I will not do that for you. | Come back, No. 5.",
        "See No. 5 in the list, fig. 3 and Jan. 12 of that year. | That is all there is.",
        "Version 2.10.3 of example.com/a?b=c.d is out. | It is good.",
        "Well... maybe later. | Let me think about that… it may work. | Or not, who knows.",
        "I do not know... | Perhaps tomorrow we will.",
        'He said "Come in." | Then he left us alone.',
        '"Really?" she asked me. | "Yes, really, I do!" | That was all she said.',
        "(It rained all day.) | **We stayed at home.** | _Nobody minded it much._",
        "What?! | You cannot be serious!! | I am, believe me.",
        "1. Wake up early. | 2. Drink some water now.",
        "We climbed Mt. Everest for 20 euros incl. VAT and food. | It was cold up there.",
        "Stir in 8 oz. milk and 2 lb. beef on Fri. at six. | The temp. is high. | It weighs about 8 oz. | It is light.",
        "I said that I don't. | You know that it isn't. | They say that we can’t.",
        "Es gibt hier viel, z. B. Äpfel, d. h. Obst, z.B. Birnen. | Das ist die Straße. | Das ist die Größe.",
        "Hay mucho que decir, p. ej. esto y nada más. | Adiós a todos.",
    ],
)
def test_sentences_are_cut_where_a_person_would_stop(text: str) -> None:
    sentences = text.split(" | ")

    assert split(" ".join(sentences)) == sentences


@pytest.mark.shows("V21")
@pytest.mark.parametrize(
    "text",
    [
        "好的。|现在是下午三点半！|你要喝茶吗？|外面下雨了，记得带伞；|路上小心一点。",
        "嗯……|让我想一想再说吧。|“我不知道。”|他说得很轻很轻。",
        "我见到了Mr. Li和他的3.5万人。|大家都很高兴.|他们还在这里。",
    ],
)
def test_chinese_sentences_end_without_a_space(text: str) -> None:
    assert split(text.replace("|", "")) == text.split("|")


def test_lines_and_list_items_end_sentences() -> None:
    assert split("Here is the list:\n- milk\n- two eggs\n\n1. first\n2. second\nDone") == [
        "Here is the list:",
        "- milk",
        "- two eggs",
        "1. first",
        "2. second",
        "Done",
    ]


def test_a_line_without_a_letter_goes_with_the_next_one() -> None:
    assert split("Look at this.\n---\n| a | b |\n") == ["Look at this.", "---\n| a | b |"]


def test_fenced_code_is_one_sentence_whatever_is_in_it() -> None:
    code = "```python\nprint('a. B')\n\n# Done. Really.\n```"

    assert split(f"Try this:\n{code}\nIt prints a line.") == ["Try this:", code, "It prints a line."]
    assert told(code[:-1]) == []
    assert split("Try it: ```x = 1. Y") == ["Try it:", "```x = 1. Y"]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It is five.", []),
        ("It is five. ", ["It is five."]),
        ("It is five.)", []),
        ("It is five\n", ["It is five"]),
        ("It rings at 5 p.m. ", []),
        ("It rings at 5 p.m. W", ["It rings at 5 p.m."]),
        ("It rings at 5 p.m. t", []),
        ("Well... ", []),
        ("现在三点。", []),
        ("现在三点。你", ["现在三点。"]),
        ("1. ", []),
        ("- 2. ", []),
        ("Mr. ", []),
        ("... ", []),
    ],
)
def test_a_sentence_comes_as_soon_as_it_has_certainly_ended_and_not_before(text: str, sentences: list[str]) -> None:
    assert told(text) == sentences


def test_the_first_sentence_is_never_kept_back_and_later_tiny_ones_are() -> None:
    splitter = SentenceSplitter()

    assert splitter.feed("Yes. ") == ["Yes."]
    assert splitter.feed("No. ") == []
    assert splitter.feed("I do not know. ") == ["No. I do not know."]
    assert splitter.feed("OK. ") == []
    assert splitter.finish() == ["OK."]


def test_a_long_sentence_is_cut_at_its_last_clause_mark_else_at_a_space() -> None:
    clauses = "and then we walked along the river for a while, " * 8
    words = "and then we walked along the river for a while " * 8

    assert told(clauses)[0].endswith("while,")
    assert all(sentence == sentence.strip() and " " in sentence for sentence in told(words))
    for text in (clauses, words):
        assert told(text)
        assert all(LONGEST * 0.4 <= len(sentence) <= LONGEST for sentence in told(text))


def test_a_long_chinese_sentence_is_cut_near_eighty_characters() -> None:
    clauses = split("我们沿着河边走了很久，" * 20)
    bare = split("我们沿着河边走了很久" * 20)

    assert all(sentence.endswith("，") and len(sentence) <= 80 for sentence in clauses)
    assert [len(sentence) for sentence in bare] == [80, 80, 40]


def test_a_long_chinese_sentence_is_not_cut_at_its_only_space() -> None:
    assert [len(sentence) for sentence in split("我用 Python 写了" + "很" * 100)] == [84, 28]


def test_an_address_is_not_cut_before_its_end_unless_it_never_ends() -> None:
    address = "https://example.com/" + "a" * 300

    assert split(f"See {address} now.") == ["See", f"{address}", "now."]
    assert [len(sentence) for sentence in split("a" * (LONGEST_WORD + 10))] == [LONGEST_WORD, 10]


@pytest.mark.shows("V21")
@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("To make really good pancakes, you need flour, eggs and", "To make really good pancakes, you need flour,"),
        ("There are three things in the way: the first is", "There are three things in the way:"),
        ("要做好吃的煎饼，你需要面粉、鸡蛋", "要做好吃的煎饼，"),
        ("Well, I do not know", ""),  # too short
        ("It happened a long time ago, on May 3, 2026 in", "It happened a long time ago,"),
        ("It happened a very long time ago on May 3, 2026 in", ""),
        ("The page about the weather [here, or there](https", ""),
        ("You can do it with `print(one, two, three, four", ""),
        ("He told all of us **loudly, and often", ""),
        ("Nobody knows what follows this comma,", ""),  # it may be a number
    ],
)
def test_a_clause_of_the_first_sentence_can_be_had_before_its_end(text: str, clause: str) -> None:
    splitter = SentenceSplitter()
    assert splitter.feed(text) == []
    assert splitter.clause() == clause
    assert splitter.clause() == ""  # of one sentence at most one
    assert [*filter(None, [clause]), *splitter.feed(" an end. Then"), splitter.cut()] == [
        *filter(None, [clause]),
        f"{text.removeprefix(clause).strip()} an end.",
        "Then",
    ]


def test_no_later_sentence_is_cut_at_a_clause() -> None:
    splitter = SentenceSplitter()
    assert splitter.feed("Yes. To make really good pancakes, you will need") == ["Yes."]
    assert splitter.clause() == ""


def test_what_is_unfinished_can_be_dropped_and_the_splitter_begins_anew() -> None:
    splitter = SentenceSplitter()

    assert splitter.feed("That is settled now. And this is") == ["That is settled now."]
    assert splitter.cut() == "And this is"
    assert splitter.finish() == []
    assert splitter.feed("Hi. ") == ["Hi."]


AWKWARD = st.text(alphabet=st.sampled_from('aB1 .!?…。！？；，,\n"”)*`中文\t-:/'), max_size=400)
WORDS = st.lists(
    st.sampled_from(
        ["Mr.", "p.m.", "e.g.", "Yes.", "you", "Tea", "3.5", "…", "```", "\n", "好的。", "，", "walked" * 9, "1."]
    ),
    max_size=80,
).map(" ".join)


@pytest.mark.shows("V21")
@given(text=AWKWARD | WORDS | st.text(max_size=200), cuts=st.lists(st.integers(0, 800), max_size=30))
def test_chunking_never_changes_the_sentences_and_nothing_is_lost(text: str, cuts: list[int]) -> None:
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    splitter = SentenceSplitter()

    pieces = [text[start:end] for start, end in pairwise(edges)]
    sentences = [sentence for piece in pieces for sentence in splitter.feed(piece)] + splitter.finish()

    assert sentences == split(text)
    assert "".join("".join(sentences).split()) == "".join(text.split())
    assert all(sentence == sentence.strip() != "" for sentence in sentences)
