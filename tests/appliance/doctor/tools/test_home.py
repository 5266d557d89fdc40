"""What the doctor says of Home Assistant: each fault in one sentence, with the mend."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from appliance.config.load import load
from appliance.doctor.examine import Line, Verdict
from appliance.doctor.tools.home import EXPOSE, home, judge_home
from appliance.errors import ConfigError
from memory.json_value import Json
from tests.agent.home_server import SmallHome, small_home

pytestmark = pytest.mark.shows("X10")

CONNECTED: dict[str, Json] = {"state": "connected", "entities": 13, "exposed": 13}
LENT: dict[str, Json] = {"state": "connected", "tools": 5}


def told_of(folder: Path, url: str, token: str = "") -> Line:
    file = folder / "nakari.toml"
    file.write_text(f'[home]\nurl = "{url}"\n')
    environment = {"HOME": str(folder), **({"HOME_ASSISTANT_TOKEN": token} if token else {})}
    return home(load(file, environment))


async def seen(folder: Path, server: SmallHome, token: str = "") -> Line:
    return await asyncio.to_thread(told_of, folder, server.url, token or server.token)


def test_without_one_there_is_nothing_to_say(tmp_path: Path) -> None:
    line = told_of(tmp_path, "")
    assert (line.verdict, line.what) == (Verdict.OK, "no Home Assistant is configured")


async def test_a_good_one_tells_how_much_is_exposed(tmp_path: Path) -> None:
    async with small_home() as server:
        line = await seen(tmp_path, server)
    assert (line.verdict, line.what) == (Verdict.OK, "Home Assistant has 13 entities, 13 exposed; 5 tools")


Faulty = Callable[[SmallHome], None]


def no_tools(server: SmallHome) -> None:
    server.has_mcp = False


def no_admin(server: SmallHome) -> None:
    server.is_admin = False


def starting(server: SmallHome) -> None:
    server.lacks.add("get_states")


@pytest.mark.parametrize(
    ("fault", "verdict", "what", "fix"),
    [
        (no_tools, Verdict.WARNING, "13 exposed", 'add the integration "Model Context Protocol Server" there'),
        (no_admin, Verdict.OK, "only an administrator's token tells how many", ""),
        (starting, Verdict.WARNING, "it is starting", ""),
    ],
)
async def test_what_is_missing_there_is_told(
    tmp_path: Path, fault: Faulty, verdict: Verdict, what: str, fix: str
) -> None:
    async with small_home() as server:
        fault(server)
        line = await seen(tmp_path, server)
    assert line.verdict is verdict
    assert what in line.what
    assert fix in line.fix


async def test_a_wrong_token_and_none_are_told_with_the_mend(tmp_path: Path) -> None:
    async with small_home() as server:
        wrong, none = await seen(tmp_path, server, "wrong"), await asyncio.to_thread(told_of, tmp_path, server.url)
    assert (wrong.verdict, wrong.what) == (Verdict.FAULT, "Home Assistant: it refuses the token")
    assert "HOME_ASSISTANT_TOKEN" in wrong.fix
    assert (none.verdict, none.what) == (Verdict.FAULT, "HOME_ASSISTANT_TOKEN is not set")


def test_one_that_is_not_there_is_told(tmp_path: Path) -> None:
    line = told_of(tmp_path, "http://127.0.0.1:9", "t")
    assert line.verdict is Verdict.FAULT
    assert "nothing answers at http://127.0.0.1:9" in line.what
    assert line.fix == "start Home Assistant, or correct [home] url"


def test_what_the_running_service_says_is_weighed() -> None:
    assert judge_home(CONNECTED, LENT).verdict is Verdict.OK
    assert judge_home({**CONNECTED, "exposed": 0}, LENT).fix == EXPOSE
    away = judge_home({"state": "lost", "reason": "it went away", "fix": "start it"}, None)
    assert (away.verdict, away.what, away.fix) == (Verdict.FAULT, "Home Assistant: it went away", "start it")


def test_a_server_of_tools_may_not_have_its_name(tmp_path: Path) -> None:
    file = tmp_path / "nakari.toml"
    file.write_text('[home]\nurl = "http://127.0.0.1:8123"\n[mcp.home]\nurl = "http://127.0.0.1:1/mcp"\n')
    with pytest.raises(ConfigError, match=r"\[mcp.home\] has the name of"):
        load(file, {"HOME": str(tmp_path)})
