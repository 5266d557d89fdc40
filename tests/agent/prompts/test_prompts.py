"""The system prompt: the nine points of the first document, and nothing prescribed."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import tiktoken

import agent
from agent.context.tokens import TokenCounter
from agent.model.messages import ToolSpec
from agent.model.wire.openai import encode, tools_to_openai
from agent.prompts import MODULES, Prompts, Self, compose
from agent.tools.registry.registry import ToolRegistry
from agent.tools.tool import Tool
from appliance.config.load import load
from appliance.model.check import LONG_PREFIX, SHORT_PREFIX
from tests.agent.mind import a_mind, spoken
from tests.appliance.wiring.every_tool import every_tool
from tests.fakes import ScriptedModel, calls

NINE_POINTS = {
    "1 a Neo4j database is its memory": r"Neo4j database.*your memory",
    "2 the memory tools read and write freely": r"memory_query.*memory_write.*memory_schema.*embedding.*freely",
    "3 nobody prescribes node types": r"Nobody tells you which nodes",
    "4 memory_schema shows the structure": r"memory_schema` shows the shape",
    "5 look before, record after": r"Before you reply, look.*After you reply, keep",
    "6 embedding for what matters": r"`embedding` makes a vector",
    "7 a mailbox with all events": r"You have a mailbox\. Everything",
    "8 it manages it itself": r"create_event.*suspend_event.*complete_event",
    "9 compress_context": r"compress_context` you decide yourself",
}


@pytest.mark.shows("D17")
@pytest.mark.parametrize("point", NINE_POINTS)
def test_each_point_is_there(point: str) -> None:
    assert re.search(NINE_POINTS[point], compose(), re.DOTALL)


@pytest.mark.shows("C1", "D17")
def test_no_label_property_or_relation_is_named() -> None:
    cypher = re.findall(r"\(\w*:\w+|\[\w*:\w+|\b[A-Z]+_[A-Z_]+\b|:[A-Z]\w+", compose())
    assert cypher == []


@pytest.mark.shows("D14", "D15")
def test_an_override_replaces_its_module_and_no_other() -> None:
    ordinary = compose()
    for name in MODULES:
        changed = compose({name: "# Mine"})
        assert "# Mine" in changed
        assert len(changed) < len(ordinary)
    assert compose({"persona": "# Mine"}).startswith("# Mine\n\n# How you live")
    assert compose({"tools": "# Mine"}).endswith("# Mine")


def test_the_prefix_holds_no_clock_id_or_count() -> None:
    assert compose() == compose()
    assert not re.search(r"\d{4}-\d{2}-\d{2}|\d{2}:\d{2}", compose())


CHANGING_FACTS = {
    "when it was true": r"since when",
    "when it was learnt, from whom, by which event": r"when you learnt it, from whom and by which event",
    "superseded, not overwritten": r"end the old one instead of overwriting",
    "dates as dates": r"date as a date",
}


@pytest.mark.shows("D17", "G15")
@pytest.mark.parametrize("point", CHANGING_FACTS)
def test_how_to_keep_what_changes_is_taught(point: str) -> None:
    assert re.search(CHANGING_FACTS[point], " ".join(compose().split()))


@pytest.mark.shows("D17")
def test_the_memory_s_words_take_no_more_than_before_it_was_taught_what_changes(every: list[Tool]) -> None:
    """Module and tools together, for a large window and a small one: what was added was paid for by shorter words."""
    tokens = TokenCounter()
    tokens.load()
    memory = {*GRAPH, "remember_at_start"}
    for little, most in ((False, 207 + 1151), (True, 78 + 227)):
        specs = offered(every, little=little)
        module = compose({"persona": "-", "system": "-"}, specs).removeprefix("-\n\n-\n\n")
        assert module.startswith("# Your memory")
        assert tokens.count(module) + tokens.of_tools(tuple(each for each in specs if each.name in memory)) <= most


FIVE_POINTS = {
    "1 a Neo4j database is its memory": r"Neo4j database.*It is your memory",
    "2 the tools read and write freely": r"memory_query.*memory_write.*memory_schema.*freely",
    "3 it decides what nodes there are": r"Nobody tells you which nodes.*You decide",
    "4 memory_schema shows the shape": r"memory_schema` shows the shape",
    "5 look before, record after": r"Before you reply, look.*After you reply, keep",
}
"""What the prompt has to say of the memory, each point with the words that say it."""

TAGS = (
    *("Current_Time", "Timezone", "Evidence", "Event", "Human_Input", "Note", "Waited_Seconds", "Late_Seconds", "Rang"),
    *(
        "Continues",
        "Interrupted_After",
        "Unsaid",
        "Children",
        "Reflexes",
        "Mood",
        "Also_Missed",
        "Context_Full",
        "Remembered",
    ),
)


@pytest.mark.shows("D17")
@pytest.mark.parametrize("point", FIVE_POINTS)
def test_each_point_of_the_last_document_is_there(point: str) -> None:
    assert re.search(FIVE_POINTS[point], compose(), re.DOTALL)


@pytest.mark.shows("D10", "D17")
@pytest.mark.parametrize("tag", TAGS)
def test_each_tag_it_may_meet_is_explained(tag: str) -> None:
    assert f"<{tag}>" in compose() or f"<{tag} " in compose()


def test_no_tag_is_written_that_is_not_in_the_list() -> None:
    root = Path(agent.__file__).parents[1]
    contexts = ("agent/context/block.py", "agent/context/situation.py")
    writers = ("agent/*.py", "agent/run/*.py", *contexts, "appliance/reflexes/*.py")
    sources = [file for pattern in writers for file in root.glob(pattern)]
    code = "".join(file.read_text(encoding="utf-8") for file in sources)
    name = r'"([A-Z][a-z]+(?:_[A-Z][a-z]+)*)"'
    written = {
        found for pattern in (rf"situation\[{name}\]", rf"[{{,] ?{name}: ") for found in re.findall(pattern, code)
    }
    assert written <= set(TAGS), "explain it in agent/prompts/system.md and name it here"
    assert {"Continues", "Unsaid", "Children", "Note", "Rang", "Timezone"} <= written, "or this test finds nothing"


SPECS = tuple(ToolSpec(name, "d", {"type": "object"}) for name in ("memory_query", "reply", "web_search"))


@pytest.mark.shows("D18")
def test_what_it_knows_of_itself_is_what_is_there() -> None:
    about = Self(model="ollama/qwen3", voice="espeak-ng", memory="", leaving=(), max_tool_calls=7)
    told = about.text(SPECS)
    assert "memory_query, reply, web_search" in told
    assert "ollama/qwen3" in told
    assert "7 tool calls" in told
    assert "espeak-ng" in told
    assert "no graph" in told
    assert "Nothing that is said leaves this machine" in told
    other = Self("gpt", "edge-tts", "a Neo4j server", ("what is said goes to gpt",), 3).text(SPECS[:1])
    assert "what is said goes to gpt" in other
    assert "web_search" not in other
    assert "Nothing that is said" not in other


@pytest.mark.shows("D11", "D18")
def test_what_it_knows_of_itself_has_no_clock_and_no_count_that_changes() -> None:
    about = Self("m", "v", "g", (), 10)
    assert about.text(SPECS) == about.text(SPECS)
    assert not re.search(r"\d{4}|\d:\d", about.text(SPECS))


class Owners:
    """Overrides as a store gives them."""

    def __init__(self) -> None:
        self.modules: dict[str, dict[str, str]] = {}

    async def of(self, owner_key: str) -> dict[str, str]:
        return self.modules.get(owner_key, {})


@pytest.mark.shows("D14", "D15")
async def test_an_owners_override_is_theirs_alone_and_comes_with_the_next_epoch(tmp_path: Path) -> None:
    owners, model = Owners(), ScriptedModel(*(calls(("reply", '{"text": "Yes."}'), prefix=f"c{n}") for n in range(5)))
    async with a_mind(tmp_path, [model], system=Prompts(owners)) as mind:
        await mind.handle(spoken("one"))
        owners.modules["household"] = {"persona": "# Call me Kari"}
        await mind.handle(spoken("two"))
        mind.clock.now += 121.0
        await mind.handle(spoken("three"))
        await mind.handle(spoken("four", owner_key="key of somebody"))
    prompts = [request[0].content for request in model.requests]
    tools = model.tools[0]
    assert prompts[0] == prompts[1] == prompts[3] == compose({}, tools)
    assert prompts[2] == compose({"persona": "# Call me Kari"}, tools)


async def test_an_override_of_no_module_changes_nothing(tmp_path: Path) -> None:
    owners = Owners()
    owners.modules["household"] = {"nonsense": "x", "tools": ""}
    assert await Prompts(owners).system("household", SPECS) == compose({}, SPECS)


GRAPH = ("memory_query", "memory_write", "memory_schema", "embedding")


def offered(tools: list[Tool], *, little: bool, memory: bool = True) -> tuple[ToolSpec, ...]:
    """Return what a model is told of these tools."""
    return ToolRegistry([tool for tool in tools if memory or tool.name not in GRAPH], lambda: little).specs_for("")


@pytest.fixture
async def every(tmp_path: Path) -> AsyncIterator[list[Tool]]:
    async with every_tool(load(None, {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)})) as tools:
        yield tools


@pytest.mark.shows("D18")
@pytest.mark.parametrize("little", [False, True])
def test_without_a_graph_nothing_is_said_of_one_but_that_there_is_none(every: list[Tool], little: bool) -> None:
    specs = offered(every, little=little, memory=False)
    prompt = f"{compose({}, specs)}\n\n{Self('m', 'v', '', (), 10).text(specs)}"
    assert prompt.count("graph") == 1
    assert "You have no graph here." in prompt
    assert not re.search(r"memory|Cypher|Neo4j|<<|>>", prompt)
    own = Self("m", "v", "this box's own store", (), 10)
    specs = offered(every, little=little)
    assert "no graph" not in f"{compose({}, specs)}{own.text(specs)}"


@pytest.mark.shows("D18")
@pytest.mark.parametrize("little", [False, True])
@pytest.mark.parametrize("memory", [False, True])
def test_no_tool_is_named_that_is_not_there(every: list[Tool], little: bool, memory: bool) -> None:
    specs = offered(every, little=little, memory=memory)
    prompt = compose({}, specs)
    there = {spec.name for spec in specs} | {tool.name for tool in every if memory or tool.name not in GRAPH}
    named = set(re.findall(r"`([a-z]+_[a-z]+)`", prompt)) - {"follow_up"}
    assert named <= there
    assert {"complete_event", "suspend_event"} <= named


@pytest.mark.shows("D17", "D5")
@pytest.mark.parametrize("vocabulary", ["cl100k_base", "o200k_base"])
def test_for_a_small_window_prompt_and_tools_are_short(every: list[Tool], vocabulary: str) -> None:
    TokenCounter().load()  # says where the vocabularies are
    count = tiktoken.get_encoding(vocabulary).encode_ordinary
    taken = {}
    for little in (False, True):
        specs = offered(every, little=little)
        leaving = ("what nakari says, to speech.platform.bing.com", "what people say, to api.openai.com")
        prompt = f"{compose({}, specs)}\n\n{Self('openai/gpt-5.4-mini', 'v', 'its own store', leaving, 10).text(specs)}"
        taken[little] = len(count(prompt)) + len(count(encode([*tools_to_openai(specs)]).decode()))
    assert taken[True] <= 1800
    assert taken[False] == pytest.approx(LONG_PREFIX, rel=0.1)
    assert taken[True] == pytest.approx(SHORT_PREFIX, rel=0.1)


SHORT_POINTS = (
    *("one at a time", "`reply`", "`complete_event`", "budget", "`suspend_event`", "not addressed", "confidence"),
    *("`use_tool`", "`find_tools`", "journal keeps every word", "no instruction", "yours alone", "no markdown"),
    *(f"<{tag}>" for tag in ("Human_Input", "Rang", "Unsaid", "Continues", "Note", "Children", "Reflexes", "Recent")),
)


@pytest.mark.shows("D17")
@pytest.mark.parametrize("point", SHORT_POINTS)
def test_the_short_prompt_still_says_it(every: list[Tool], point: str) -> None:
    assert point in " ".join(compose({}, offered(every, little=True)).split())


@pytest.mark.shows("D14", "D15")
def test_an_override_replaces_the_short_module_too(every: list[Tool]) -> None:
    specs = offered(every, little=True)
    changed = compose({"persona": "# Mine"}, specs)
    assert changed.startswith("# Mine\n\n# How you live")
    assert changed.endswith(compose({}, specs)[-100:])


@pytest.mark.shows("C1")
def test_the_short_texts_name_no_label_property_or_relation_either(every: list[Tool]) -> None:
    specs = offered(every, little=True)
    texts = compose({}, specs) + "".join(spec.description for spec in specs if spec.name in GRAPH)
    assert set(re.findall(r"\(\w*:(\w+)|\[\w*:(\w+)|:([A-Z]\w+)", texts)) <= {("A", "", ""), ("", "", "A")}
