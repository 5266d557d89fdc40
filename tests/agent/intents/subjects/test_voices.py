"""Who speaks, without a model: names that are given, and those that are none."""

import json

import pytest

from agent.intents.reading.understanding import load_understanding
from memory.json_value import Json
from tests.agent.offline_talk import OFFLINE, Talk, without

UNDERSTAND = load_understanding()


@pytest.fixture
def talk() -> Talk:
    return Talk(OFFLINE, without("set_volume", "device", "calendar_events", "calendar_add", "weather"))


@pytest.mark.shows("V27", "V30")
@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("My name is Anna.", {"do": "learn", "name": "Anna"}),
        ("my name is anna", {"do": "learn", "name": "anna"}),
        ("This is Anna.", {"do": "learn", "name": "Anna"}),
        ("I'm Anna Maria", {"do": "learn", "name": "Anna Maria"}),
        ("我是安娜", {"do": "learn", "name": "安娜"}),
        ("我叫小明。", {"do": "learn", "name": "小明"}),
        ("Who am I?", {"do": "who"}),
        ("Who is speaking?", {"do": "who"}),
        ("我是谁？", {"do": "who"}),
        ("That was not Anna, that was me, Ben.", {"do": "correct", "name": "Ben"}),
        ("No, that was Ben.", {"do": "correct", "name": "Ben"}),
        ("刚才不是安娜，是我，王明。", {"do": "correct", "name": "王明"}),
        ("Forget Anna's voice.", {"do": "forget", "name": "Anna"}),
        ("Forget my voice.", {"do": "forget", "name": ""}),
        ("忘掉安娜的声音", {"do": "forget", "name": "安娜"}),
    ],
)
async def test_a_sentence_about_a_voice_is_a_call(talk: Talk, words: str, call: dict[str, str]) -> None:
    talk.hear(words)
    assert await talk.calls({"speaker": "unknown", "known": []}) == [("voice", call)]


@pytest.mark.shows("V27")
@pytest.mark.parametrize(
    "words",
    [
        "I am tired.",
        "This is great.",
        "i'm hungry",
        "that was fun",
        "我是学生",
        "我是昨天来的",
        "这是什么",
        "Who are you?",
    ],
)
def test_what_is_no_name_is_no_order(words: str) -> None:
    assert not UNDERSTAND(words).name.startswith("voice_")


@pytest.mark.shows("V27")
@pytest.mark.parametrize(
    ("words", "found", "said"),
    [
        ("Who am I?", {"speaker": "Anna", "known": ["Anna"]}, "By your voice you are Anna."),
        ("Who am I?", {"speaker": "unknown", "known": ["Anna"]}, "I do not know your voice. Say: my name is, and"),
        ("我是谁？", {"speaker": "安娜", "known": ["安娜"]}, "听声音你是安娜。"),
        ("No, that was Ben.", '"tea" was said by Ben now', "All right, that was Ben."),
        ("Forget Anna's voice.", "error: no voice is known as Anna", "That did not work: no voice is known as Anna"),
    ],
)
async def test_what_came_of_it_is_said(talk: Talk, words: str, found: Json, said: str) -> None:
    talk.hear(words)
    await talk.calls(found if isinstance(found, str) else json.loads(json.dumps(found)))
    assert (await talk.says()).startswith(said)


@pytest.mark.shows("V27")
async def test_a_name_that_is_typed_is_kept_as_what_was_told_for_there_is_no_voice(talk: Talk) -> None:
    talk.read("My name is Anna.")
    assert "voice" not in {name for name, _ in await talk.answer()}


@pytest.mark.parametrize("words", ["My name is Anna.", "Who am I?"])
async def test_where_nobody_listens_for_voices_it_asks_for_a_model(words: str) -> None:
    talk = Talk(OFFLINE)
    talk.hear(words)
    assert "voice" not in {name for name, _ in await talk.answer()}
