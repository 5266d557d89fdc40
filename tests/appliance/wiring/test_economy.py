"""What an event and the agent's own work may take, from the configuration to the parts."""

from datetime import UTC
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import fields, replace

from agent.event import DEFAULT_MAX_TOOL_CALLS
from agent.mailbox import Allowance
from appliance.config.agent.own_work import EconomySettings
from appliance.wiring.agent.agent import budgets_of
from appliance.wiring.memory.state import allowance_of


@pytest.mark.shows("A3", "B8", "X7")
def test_each_type_of_event_has_its_own_budget() -> None:
    usual = EconomySettings()
    kinds = ("user_text", "asr_transcript", "timer", "self_created", "system", "reflection", "night")
    assert budgets_of(usual) == dict.fromkeys(kinds, DEFAULT_MAX_TOOL_CALLS)
    for number, kind in enumerate(kinds):
        assert budgets_of(replace(usual, **{kind: number}))[kind] == number


@pytest.mark.shows("A16", "X7")
def test_each_bound_of_its_own_work_arrives_where_it_belongs() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    assert allowance_of(EconomySettings(), UTC) == Allowance()
    bounds = [each.name for each in fields(Allowance) if each.name != "zone"]
    other = EconomySettings(**{name: number for number, name in enumerate(bounds, 1)})
    allowance = allowance_of(other, berlin)
    assert [getattr(allowance, name) for name in bounds] == [1, 2, 3, 4, 5]
    assert allowance.zone == berlin
