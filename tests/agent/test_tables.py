"""The tables in YAML files, which every start reads."""

import sys
from importlib.resources import files

import pytest
import yaml

from agent import tables

LANGUAGE = "agent.intents.language"
SENTENCES = "sentences/zh.yaml"


def test_a_table_is_read_as_it_stands() -> None:
    text = files(LANGUAGE).joinpath(SENTENCES).read_text(encoding="utf-8")
    assert tables.table.__wrapped__(LANGUAGE, SENTENCES) == yaml.safe_load(text)


@pytest.mark.skipif(not yaml.__with_libyaml__, reason="PyYAML was built here without libyaml")
def test_libyaml_reads_it_where_it_is_there() -> None:
    """Python's own scanner takes 0.2 s for both files, of each start and each question to a box that does not run."""
    ran: set[str] = set()
    sys.setprofile(lambda frame, event, argument: ran.add(frame.f_code.co_filename))
    try:
        tables.table.__wrapped__(LANGUAGE, SENTENCES)
    finally:
        sys.setprofile(None)
    assert any(name.endswith("tables.py") for name in ran)
    assert not any(name.endswith("yaml/scanner.py") for name in ran)
