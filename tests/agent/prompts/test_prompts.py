"""The system prompt: the nine points of the first document, and nothing prescribed."""

import re
from pathlib import Path

import pytest

import agent
from agent.model.messages import ToolSpec
from agent.prompts import MODULES, Prompts, Self, compose
from tests.agent.mind import a_mind, spoken
from tests.fakes import ScriptedModel, calls

NINE_POINTS = {
    "1 a Neo4j database is her memory": r"Neo4j database.*your memory",
    "2 the memory tools read and write freely": r"memory_query.*memory_write.*memory_schema.*embedding.*freely",
    "3 nobody prescribes node types": r"Nobody tells you which nodes",
    "4 memory_schema shows the structure": r"memory_schema` shows the shape",
    "5 look before, record after": r"Before you reply, look.*After you reply, keep",
    "6 embedding for what matters": r"`embedding` makes a vector",
    "7 a mailbox with all events": r"You have a mailbox\. Everything",
    "8 she manages it herself": r"create_event.*suspend_event.*complete_event",
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


FIVE_POINTS = {
    "1 a Neo4j database is her memory": r"Neo4j database.*It is your memory",
    "2 the tools read and write freely": r"memory_query.*memory_write.*memory_schema.*freely",
    "3 she decides what nodes there are": r"Nobody tells you which nodes.*You decide",
    "4 memory_schema shows the shape": r"memory_schema` shows the shape",
    "5 look before, record after": r"Before you reply, look.*After you reply, keep",
}
"""What the prompt has to say of the memory, each point with the words that say it."""

TAGS = (
    *("Current_Time", "Timezone", "Evidence", "Event", "Human_Input", "Note", "Waited_Seconds", "Late_Seconds", "Rang"),
    *("Continues", "Interrupted_After", "Unsaid", "Children", "Reflexes", "Mood", "Also_Missed", "Context_Full"),
)


@pytest.mark.shows("D17")
@pytest.mark.parametrize("point", FIVE_POINTS)
def test_each_point_of_the_last_document_is_there(point: str) -> None:
    assert re.search(FIVE_POINTS[point], compose(), re.DOTALL)


@pytest.mark.shows("D10", "D17")
@pytest.mark.parametrize("tag", TAGS)
def test_each_tag_she_may_meet_is_explained(tag: str) -> None:
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
def test_what_she_knows_of_herself_is_what_is_there() -> None:
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
def test_what_she_knows_of_herself_has_no_clock_and_no_count_that_changes() -> None:
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
    assert prompts[0] == prompts[1] == prompts[3] == compose()
    assert prompts[2] == compose({"persona": "# Call me Kari"})


async def test_an_override_of_no_module_changes_nothing(tmp_path: Path) -> None:
    owners = Owners()
    owners.modules["household"] = {"nonsense": "x", "tools": ""}
    assert await Prompts(owners).system("household", ()) == compose()
