from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from memory.errors import RegistrationNeeded, SettingRefused
from memory.state.database import Database
from memory.state.owner_settings import LONGEST, SCHEMA, Effective, Levels, OwnerSettings, Value, effective

pytestmark = pytest.mark.shows("F14", "F16")

LEVELS = Levels(
    system={"calls": 10},
    default={"prompt.persona": "", "prompt.tools": "", "volume": 50, "calls": 9},
    ranges={"volume": (0, 100)},
)


def members_only(owner_key: str) -> None:
    if owner_key == "visitor":
        raise RegistrationNeeded("register first")


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[OwnerSettings]:
    database = Database(folder / "nakari.db")
    await database.open(SCHEMA)
    settings = OwnerSettings(database, LEVELS, members_only)
    await settings.load()
    try:
        yield settings
    finally:
        await database.close()


@pytest.mark.parametrize(
    ("system", "default", "owner", "found"),
    [
        (None, None, None, None),
        (None, 1, None, Effective(1, "default")),
        (None, None, 2, Effective(2, "owner")),
        (None, 1, 2, Effective(2, "owner")),
        (3, None, None, Effective(3, "system")),
        (3, 1, None, Effective(3, "system")),
        (3, None, 2, Effective(3, "system")),
        (3, 1, 2, Effective(3, "system")),
        (0, 1, 2, Effective(0, "system")),
        (None, 1, False, Effective(False, "owner")),
        (None, "x", "", Effective("", "owner")),
    ],
)
def test_precedence(system: Value | None, default: Value | None, owner: Value | None, found: Effective | None) -> None:
    assert effective(system, default, owner) == found


async def test_an_owner_s_values_last_and_are_theirs_alone(tmp_path: Path) -> None:
    async with opened(tmp_path) as settings:
        await settings.set("ada", "volume", 80)
        await settings.set("ada", "prompt.persona", "Be short.")
        await settings.set("eve", "volume", 10)
    async with opened(tmp_path) as settings:
        assert settings.of("ada", "volume") == Effective(80, "owner")
        assert settings.of("eve", "volume") == Effective(10, "owner")
        assert settings.of("household", "volume") == Effective(50, "default")
        assert settings.prompts("ada") == {"persona": "Be short."}
        assert settings.prompts("eve") == {}


async def test_they_can_be_taken_back_one_or_all(tmp_path: Path) -> None:
    async with opened(tmp_path) as settings:
        for name, value in (("volume", 80), ("prompt.persona", "x"), ("prompt.tools", "y")):
            await settings.set("ada", name, value)
        await settings.set("eve", "volume", 10)
        await settings.reset("ada", "volume")
        assert settings.of("ada", "volume") == Effective(50, "default")
        await settings.reset("ada")
        assert settings.prompts("ada") == {}
    async with opened(tmp_path) as settings:
        assert settings.prompts("ada") == {}
        assert settings.of("eve", "volume") == Effective(10, "owner")


async def test_what_an_owner_set_is_forgotten_at_once_and_for_good_and_nobody_else_s(tmp_path: Path) -> None:
    async with opened(tmp_path) as settings:
        for owner in ("ada", "eve"):
            await settings.set(owner, "prompt.persona", f"I am {owner}.")
        await settings.forget("ada")
        assert (settings.prompts("ada"), settings.prompts("eve")) == ({}, {"persona": "I am eve."})
    async with opened(tmp_path) as settings:
        assert (settings.prompts("ada"), settings.prompts("eve")) == ({}, {"persona": "I am eve."})


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("calls", 99, "belongs to the box"),
        ("nonsense", 1, "there are calls, prompt.persona, prompt.tools, volume"),
        ("volume", "loud", "volume is a whole number"),
        ("volume", True, "volume is a whole number"),
        ("volume", 101, "volume is a whole number from 0 to 100"),
        ("volume", -1, "volume is a whole number from 0 to 100"),
        ("prompt.persona", 7, "is a text of at most"),
        ("prompt.persona", "x" * (LONGEST + 1), "at most"),
    ],
)
async def test_what_is_not_theirs_to_set_is_refused(tmp_path: Path, name: str, value: Value, words: str) -> None:
    async with opened(tmp_path) as settings:
        with pytest.raises(SettingRefused, match=words):
            await settings.set("ada", name, value)
        assert settings.of("ada", "calls") == Effective(10, "system")
        with pytest.raises(SettingRefused, match="there is no setting"):
            settings.of("ada", "nonsense")


@pytest.mark.shows("F13")
async def test_a_visitor_keeps_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as settings:
        for name in ("volume", "calls", "nonsense"):
            with pytest.raises(RegistrationNeeded):
                await settings.set("visitor", name, 80)
        with pytest.raises(RegistrationNeeded):
            await settings.reset("visitor")
        assert settings.of("visitor", "volume") == Effective(50, "default")


@pytest.mark.shows("F13")
async def test_what_a_member_had_set_rests_while_they_are_none(tmp_path: Path) -> None:
    members = {"ada"}

    def may_keep(owner_key: str) -> None:
        if owner_key not in members:
            raise RegistrationNeeded("register first")

    database = Database(tmp_path / "nakari.db")
    await database.open(SCHEMA)
    settings = OwnerSettings(database, LEVELS, may_keep)
    await settings.set("ada", "prompt.persona", "Be short.")
    members.clear()
    assert settings.prompts("ada") == {}
    assert settings.of("ada", "prompt.persona") == Effective("", "default")
    members.add("ada")
    assert settings.prompts("ada") == {"persona": "Be short."}
    await database.close()


async def test_all_that_holds_is_listed_with_its_level(tmp_path: Path) -> None:
    async with opened(tmp_path) as settings:
        await settings.set("ada", "volume", 80)
        assert settings.all("ada") == {
            "calls": Effective(10, "system"),
            "prompt.persona": Effective("", "default"),
            "prompt.tools": Effective("", "default"),
            "volume": Effective(80, "owner"),
        }


async def test_a_name_that_there_is_not_cannot_be_taken_back(tmp_path: Path) -> None:
    async with opened(tmp_path) as settings:
        await settings.set("ada", "volume", 80)
        with pytest.raises(SettingRefused, match="there is no setting 'nonsense'"):
            await settings.reset("ada", "nonsense")
        assert settings.of("ada", "volume") == Effective(80, "owner")


async def test_a_value_that_became_the_box_s_is_kept_and_does_not_hold(tmp_path: Path) -> None:
    """The precedence after an upgrade, or a change of the configuration: what an owner set before gives way."""
    async with opened(tmp_path) as settings:
        await settings.set("ada", "volume", 80)
        await settings.set("ada", "prompt.persona", "Be short.")
    database = Database(tmp_path / "nakari.db")
    await database.open(SCHEMA)
    now = OwnerSettings(database, Levels({"volume": 30}, {"prompt.tools": ""}), members_only)
    await now.load()
    assert now.of("ada", "volume") == Effective(30, "system")
    assert now.prompts("ada") == {}, "a setting that there is no longer"
    assert set(now.all("ada")) == {"prompt.tools", "volume"}
    await database.close()
