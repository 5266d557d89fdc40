"""What came of a command as lines for people: every value, whatever it is made of."""

import pytest

from appliance.cli.telling import lines
from memory.json_value import Json


@pytest.mark.parametrize(
    ("found", "told"),
    [
        ({"state": "ready", "muted": False, "run": None}, ["state: ready", "muted: false", "run: null"]),
        ({"ears": {"chunks": 3, "suppressed": {"echo": 1}}}, ["ears:", "  chunks: 3", "  suppressed:", "    echo: 1"]),
        ({"models": [{"alias": "large", "calls": 2}, "offline"]}, ["models:", "  alias: large  calls: 2", "  offline"]),
        ({"doubted": {}, "gaps": []}, ["doubted: none", "gaps: none"]),
        ([], ["none"]),
        (7, ["7"]),
    ],
)
def test_nested_values_are_lines(found: Json, told: list[str]) -> None:
    assert lines(found) == told
