"""A call as an XML element, and the block that handed over an event said after: neither is read aloud."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agent.prompts
from agent.model.dialects.marks import PROMPT
from agent.model.dialects.reader import words_of
from tests.agent.model.test_react import tool
from tests.agent.model.test_text_reader import TEXT, calls_read

pytestmark = pytest.mark.shows("F1", "B12")


TOOLS = [
    tool("reply", "text", text=TEXT, room=TEXT),
    tool("complete_event", "summary", summary=TEXT),
    tool("set_timer", "minutes", minutes={"type": "integer"}, name=TEXT),
]
HELLO = ("reply", '{"text": "Hello."}')


def read(text: str, size: int = 1) -> tuple[str, list[tuple[str, str]]]:
    return calls_read(text, TOOLS, size)[:2]


@pytest.mark.parametrize(
    "text",
    [
        '<reply text="Hello."/>',
        "<reply text='Hello.' />",
        '<reply text="Hello."></reply>',
        '<reply text="Hello.">',
        "<reply>Hello.</reply>",
        "<reply>\nHello.\n</reply>\n",
        "<reply><text>Hello.</text></reply>",
        '<reply>{"text": "Hello."}</reply>',
        "<Reply>Hello.</Reply>",
        '<respond text="Hello."/>',
        '<tool name="reply" text="Hello."/>',
        '<invoke name="reply" text="Hello."/>',
        '<function name="reply"><text>Hello.</text></function>',
    ],
)
@pytest.mark.parametrize("size", [1, 1000])
def test_an_element_of_a_tools_name_is_a_call(text: str, size: int) -> None:
    assert read(text, size) == ("", [HELLO])


def test_a_long_reply_in_a_tag_is_a_call() -> None:
    said = "It is a long story. " * 300
    assert read(f'<reply text="{said}"/>', 50) == ("", [("reply", f'{{"text": "{said}"}}')])


def test_elements_stand_behind_words_and_behind_one_another() -> None:
    ending = ("complete_event", '{"summary": "it\'s > 3"}')
    assert read('Well. <reply text="Hello."/>\n<complete_event summary="it&apos;s > 3"/>') == ("Well.", [HELLO, ending])
    assert read("<reply>Hello.</reply>\n<complete_event summary='it&apos;s > 3'>") == ("", [HELLO, ending])


def test_an_argument_has_the_type_of_its_schema() -> None:
    timer = ("set_timer", '{"minutes": 5, "name": "7"}')
    assert read('<set_timer minutes="5" name="7"/>') == ("", [timer])
    assert read("<set_timer><minutes>5</minutes><name>7</name></set_timer>") == ("", [timer])
    assert read('<reply room="kitchen">Hello.</reply>') == ("", [("reply", '{"room": "kitchen", "text": "Hello."}')])


@pytest.mark.parametrize(
    "text",
    [
        "Use the <reply> tag.",
        "<set_timer> is a tag that I made up.",
        'Write `<reply text="x"/>` so.',
        "```\n<reply>Hello.</reply>\n```",
        "<b>Hello.</b>",
        "The `<Event>` tag hands it over, or the <Event> tag.",
    ],
)
def test_what_people_are_told_of_elements_is_said(text: str) -> None:
    assert read(text) == (text, [])


@pytest.mark.parametrize(
    "text",
    [
        '<event id="1" type="asr">turn on the lamp</event> The lamp is on.',
        '<Event id="1" source="room"/>\nThe lamp is on.',
        '<Context>\n<Room>den</Room>\n<Event id="1"/>\n<Human_Input>lamp</Human_Input>\n</Context>\nThe lamp is on.',
        "<Human_Input>turn on the lamp</Human_Input>\n</Context>\nThe lamp is on.",
        "<Human_Input>turn on the lamp\nThe lamp is on.",
        '<Current_Time>9</Current_Time>\n<Timezone>UTC</Timezone>\n<Evidence trust="high"/>\nThe lamp is on.',
        'The lamp is on.\n<Event id="2"/>\n<Human_Input>thanks</Human_Input>',
        "The lamp is on.</Event>",
    ],
)
@pytest.mark.parametrize("size", [1, 1000])
def test_of_a_block_that_is_said_after_nothing_is_said(text: str, size: int) -> None:
    assert read(text, size) == ("The lamp is on.", [])
    assert words_of(text).strip() == "The lamp is on."


def test_every_tag_that_the_prompt_tells_of_is_known() -> None:
    told = "".join(path.read_text() for path in Path(agent.prompts.__path__[0]).rglob("*.md"))
    tags = set(re.findall(r"<[A-Z]\w*>", told))
    assert tags - PROMPT.keys() == set()
    assert len(tags) > 10


@given(
    words=st.lists(
        st.sampled_from(
            [
                *(
                    " ",
                    "\n",
                    "`",
                    "Hello. ",
                    "<reply",
                    ">",
                    "/>",
                    ' text="a"',
                    " room='b'",
                    "</reply>",
                    "<text>",
                    "</text>",
                ),
                *("<Event>", "<Event ", "</Event>", "<Context>", "</Context>", "{", '{"text": "x"}', "<tool name="),
            ]
        ),
        max_size=12,
    ),
    size=st.integers(1, 7),
)
def test_no_cut_matters(words: list[str], size: int) -> None:
    assert read("".join(words), size) == read("".join(words), 10_000)
