"""The doctor tells of a name in [tools] confirm that no tool has: it would keep nothing from being done."""

from agent.tools.registry.registry import ToolRegistry
from agent.tools.tool import tool
from appliance.doctor.examine import Verdict
from appliance.doctor.tools.tools import judge_asking


async def send_letter(to: str) -> str:
    """Send a letter."""
    return to


def test_a_name_that_no_tool_has_is_told() -> None:
    unknown = ToolRegistry([tool(send_letter)]).unknown(["send_letter", "send_leter"])
    line = judge_asking({"unknown": [*unknown]})
    assert line.verdict is Verdict.WARNING
    assert "send_leter" in line.what
    assert judge_asking({"unknown": []}).verdict is Verdict.OK
    assert judge_asking({}).verdict is Verdict.OK
