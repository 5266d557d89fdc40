"""Owners as the box opens them: who shares the graph, and who may keep what."""

from pathlib import Path

import pytest

from agent.context.remembered import SETTING
from agent.event import USER_TEXT, Event
from appliance.api.requests.owners import ListSettings, ResetSettings, SetSetting, settings_of
from appliance.config.load import load
from appliance.errors import Exit, Problem
from appliance.owners.owners import Owners, member_of, open_owners, owner_of, visitors_of
from appliance.wiring.memory.state import open_state
from memory.errors import RegistrationNeeded, SettingRefused
from memory.identity import Identities, new_key
from memory.state.owner_settings import Effective

pytestmark = pytest.mark.shows("F12", "F13", "F14", "F16")


async def test_household_and_members_share_and_keep_visitors_do_neither(tmp_path: Path) -> None:
    file = tmp_path / "nakari.toml"
    file.write_text(f'[state]\nfolder = "{tmp_path}/state"\n[mind]\nmax_tool_calls = 7\n', encoding="utf-8")
    config = load(file, {"HOME": str(tmp_path)})
    (_, member), (_, visitor) = new_key(), new_key()
    async with open_state(config.state_folder) as state:
        owners = await open_owners(state, config.state_folder, config.mind.max_tool_calls)
        owners.identities.register("Ada", member)
        assert [owners.shares_graph(key) for key in ("household", member, visitor)] == [True, True, False]
        for key in ("household", member):
            await owners.settings.set(key, "prompt.persona", f"You belong to {key}.")
        with pytest.raises(RegistrationNeeded, match="nakari identity add"):
            await owners.settings.set(visitor, "prompt.persona", "Mine!")
        with pytest.raises(SettingRefused, match="belongs to the box"):
            await owners.set("household", "mind.max_tool_calls", 99)
        with pytest.raises(SettingRefused, match="from 1 to 7"):
            await owners.set(member, "mind.tool_calls", 8)
        await owners.set(member, "mind.tool_calls", 3)
        with pytest.raises(SettingRefused, match="the agent's own to set"):
            await settings_of(owners, member, SetSetting(name=SETTING, value="RETURN 1"))
        await owners.settings.keep(member, SETTING, "its own")
        found = await settings_of(owners, member, ListSettings())
        assert found["settings"][SETTING] == {"value": "its own", "level": "agent"}  # type: ignore[index,call-overload]
        await settings_of(owners, member, ResetSettings(name=SETTING))
        assert owners.settings.of(member, SETTING) == Effective("", "agent")
    async with open_state(config.state_folder) as state:
        await expect(await open_owners(state, config.state_folder, config.mind.max_tool_calls), member, visitor)


async def expect(owners: Owners, member: str, visitor: str) -> None:
    assert await owners.of(member) == {"persona": f"You belong to {member}."}
    assert await owners.of("household") == {"persona": "You belong to household."}
    assert await owners.of(visitor) == {}
    assert owners.settings.of(member, "mind.max_tool_calls") == Effective(7, "system")
    assert [owners.tool_calls(key) for key in ("household", member, visitor)] == [7, 3, 7]


async def test_visitors_are_counted_and_nothing_they_said_is_told(tmp_path: Path) -> None:
    file = tmp_path / "nakari.toml"
    file.write_text(f'[state]\nfolder = "{tmp_path}/state"\n', encoding="utf-8")
    config = load(file, {"HOME": str(tmp_path)})
    assert visitors_of(config.state_folder, ()) == {}
    member, talked, wrote = (key * 32 for key in ("a1", "be", "c0"))
    (config.state_folder / "owners" / wrote).mkdir(parents=True)
    async with open_state(config.state_folder) as state:
        for key in ("household", member, talked, talked):
            await state.mailbox.enqueue(Event(USER_TEXT, "a secret", owner_key=key))
        assert visitors_of(config.state_folder, {member}) == {talked: 2, wrote: 0}
        await state.mailbox.remove_owner(talked)
        assert visitors_of(config.state_folder, {member}) == {wrote: 0}


def test_whom_a_name_or_a_key_means(tmp_path: Path) -> None:
    identities, (_, ada), (_, other) = Identities(tmp_path), new_key(), new_key()
    identities.register("Ada", ada)
    assert owner_of(identities, "Ada") == owner_of(identities, ada) == identities.find(ada)
    assert not owner_of(identities, other).is_member
    identities.register("Ada", other)
    for named, sentence, code in (
        ("Ada", "2 members are called Ada: name one by the key", Exit.USAGE),
        ("Ben", "no member is called Ben", Exit.NO_INPUT),
    ):
        for meant in (owner_of, member_of):
            with pytest.raises(Problem, match=sentence) as raised:
                meant(identities, named)
            assert raised.value.code == code
    assert member_of(identities, ada).owner_key == ada
    visitor = new_key()[1]
    assert owner_of(identities, visitor).owner_key == visitor
    with pytest.raises(Problem, match="no member is called"):
        member_of(identities, visitor)
