"""Who speaks, without a model: names that are given, and those that are none."""

import json
from pathlib import Path

import pytest

from agent.intents.reading.understanding import load_understanding
from memory.json_value import Json
from tests.agent.intents.household import a_home
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
        ("Call me Bob.", {"do": "learn", "name": "Bob"}),
        ("please call me Mary Ann from now on", {"do": "learn", "name": "Mary Ann"}),
        ("叫我小王", {"do": "learn", "name": "小王"}),
        ("以后就叫我王师傅吧。", {"do": "learn", "name": "王师傅"}),
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
        "call me a taxi",
        "call me at seven",
        "call me tomorrow",
        "call me in ten minutes",
        "call me when it's ready",
        "叫我起床",
        "叫我妈来",
        "以后都叫我起床",
        "明天叫我",
        "叫我一声",
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
async def test_where_nobody_listens_for_voices_none_is_asked_for(words: str) -> None:
    talk = Talk(OFFLINE)
    talk.hear(words)
    assert "voice" not in {name for name, _ in await talk.answer()}


@pytest.mark.shows("V30")
@pytest.mark.parametrize(
    ("told", "kept", "asked", "answer"),
    [
        ("call me bob", "All right. Your name is bob.", "what's my name", "You told me: your name is bob."),
        ("You can call me Annie", "All right. Your name is Annie.", "who am I", "You told me: your name is Annie."),
        ("My name is Anna.", "All right. Your name is Anna.", "what is my name", "You told me: your name is Anna."),
        ("叫我小王", "好的，我叫你小王。", "我叫什么名字", "你告诉过我：你叫小王。"),
        ("你可以叫我老张", "好的，我叫你老张。", "我是谁", "你告诉过我：你叫老张。"),
    ],
)
async def test_a_name_is_kept_where_no_voice_can_be_known(
    tmp_path: Path, told: str, kept: str, asked: str, answer: str
) -> None:
    async with a_home(tmp_path) as home:
        assert await home.hear(told) == kept
        assert await home.hear(asked) == answer


async def test_the_name_told_last_is_the_one(tmp_path: Path) -> None:
    async with a_home(tmp_path) as home:
        await home.hear("my name is Anna")
        await home.hear("call me Annie")
        assert await home.hear("what's my name") == "You told me: your name is Annie."


def test_the_name_of_the_box_is_no_timer() -> None:
    assert UNDERSTAND("你叫什么").name == "who_are_you"
