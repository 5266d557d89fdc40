"""The system prompt: the nine points of the first document, and nothing prescribed."""

import re

import pytest

from agent.prompts import MODULES, compose

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
