"""What people are told by an answer, though it looks like what models leak: each is heard as it stands."""

import pytest

from agent.model.dialects.reader import words_of
from tests.agent.model.test_react import TOOLS, tool
from tests.agent.model.test_text_reader import TEXT, Reading

pytestmark = pytest.mark.shows("F1")

MORE = [*TOOLS, tool("set_timer", "minutes", minutes={"type": "integer"}), tool("web_search", "query", query=TEXT)]
MORE += [tool(name) for name in ("weather", "now", "home", "code")]

TOLD = (
    "The verb is *rit* in French: il rit.",
    "He smiled (sadly) and left.",
    "It's a happy song (upbeat, cheerful).",
    "In music, (soft) means piano. (Loud) means forte.",
    "The options are (a) tea, (b) coffee.",
    "Three moods: [happy], [sad] and [angry].",
    "Happy birthday! (And many more.)",
    "Action: that is what we need now.",
    "Action movies: Die Hard, Speed.",
    "Tool: you need a hammer. Function: it drives nails.",
    "The answer is: 42.",
    "Question: What is the capital of France?\nAnswer: Paris.",
    "Q: What is it?\nA: A cat.",
    "Input: two numbers. Output: their sum.",
    "Observation: the sky is blue today.",
    "Plan: Monday rest, Tuesday run.",
    "Plan:\n1. Rest.\n2. Run.\n\nAnswer me if that suits you.",
    "Analysis: sales went up.\nResponse: we hire.",
    "Error: the toaster is not plugged in.",
    "Error 404 means the page is missing.",
    "Exception: on Sundays it is closed.",
    "Internal error codes start with E.",
    "weather: sunny, 20 degrees.",
    "Now: it is noon.",
    "home is where the heart is.",
    "code: 1234",
    "recall: the company took back its cars.",
    "recall (the product) happened in May.",
    "reply all is dangerous.",
    "set_timer is the name of the tool.",
    "I used `web_search` for that.",
    "The tools are:\n- set_timer\n- web_search\n- reply",
    "My tools:\nset_timer: sets a timer\nweb_search: searches the web",
    "Hello *waves hand* there.",
    "*The Lion King* is on at eight. *Smiles of a Summer Night* at ten.",
    "*Bows* and arrows.",
    "She said: (laughs) no way.",
    "Use **bold** or *italics*; `code` too.",
    "*Note:* bring a coat.",
    "(Note: the shop closes at six.)",
    "(Note: the event starts at six.)",
    "The event starts at six (the event is in the hall).",
    "User: is the login name.",
    "用户：张三\n密码：123",
    "工具：锤子和钉子。",
    "分析：天气很好。\n回答：去吧。",
    "（一）苹果（二）梨",
    "今天开心！（真的）",
    "<b>bold</b> and <i>italics</i>.",
    "In HTML, <code>x</code> is code.",
    "<home> is a tag I made up.",
    "5 < 6 and a > b.",
    '{"reply": 5}',
    'The JSON is {"error": "none"}.',
    '{"error": "none"}',
    "502 is the number of the bus.",
    "503 people came.",
    "Upstream, the river is clear.",
    "An error occurred in the report: page three is missing.",
    "A thought: be kind.",
    "To be continued... PAUSE",
    "PAUSE the movie at ten.",
    "print(reply) is Python.",
    "await sleep(1) waits.",
    "functions.reply is a name.",
    'Say "*laughs*" for fun.',
    "😊",
    "- [x] milk\n- [ ] bread",
    "See [1] and (2). [2] too.",
    "Cheers! *clink*",
    "Well (pause) maybe.",
    "A short (brief) pause.",
    "The word is _laughs_.",
    "_Moby Dick_ is long.",
    "no no no no",
    "Here it goes:\n    print('done', event)\n    f(happy)",
    "You can say /no_think to Qwen.",
    "In HTML, <s>this</s> is struck out; the <unk> token stands for any word.",
    "Its XML is <tool>a hammer</tool> and <json>{}</json>.",
)


@pytest.mark.parametrize("told", TOLD)
def test_what_people_are_told_is_heard_as_it_stands(told: str) -> None:
    reading = Reading(tools=MORE)
    for char in told:
        reading.feed(char)
    assert reading.finish()[:2] == (told, [])
    assert words_of(told) == told
