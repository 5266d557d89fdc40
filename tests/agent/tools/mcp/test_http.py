"""Servers over HTTP that forget, refuse, freeze, or say too much: the connection ends in a sentence, and comes back."""

import pytest
from msgspec.structs import replace
from structlog.testing import capture_logs

from agent.tools.mcp.server import Server
from agent.tools.tool import MAX_OBSERVATION
from tests.agent.mcp_house import QUICK, a_house
from tests.agent.mcp_http import old_http

pytestmark = pytest.mark.shows("B13")


def server(url: str, **fields: object) -> Server:
    return replace(Server("old", url=url), **fields)


async def test_a_server_that_has_forgotten_the_session_is_greeted_again() -> None:
    async with old_http() as old, a_house(server(old.url)) as house:
        await house.connected("old")
        assert await house.said("old_look") == "seen"
        old.forget()
        assert (await house.call("old_look")).startswith("error: old refused: ")
        await house.lost("old")
        await house.connected("old")
        assert await house.said("old_look") == "seen"
        assert old.sessions == 2


async def test_a_key_is_shown_and_a_wrong_one_is_told() -> None:
    async with old_http() as old:
        old.key = "sesame"
        async with a_house(server(old.url, key="sesame")) as house:
            await house.connected("old")
            assert old.shown == {"Bearer sesame"}
        async with a_house(server(old.url)) as house:
            reason = await house.lost("old")
            assert reason == "it does not let us in: correct the key that `api_key_env` names"


async def test_a_refused_key_is_not_shown_again_for_a_quarter_of_an_hour() -> None:
    """Home Assistant tells each try as an attack, and may ban this machine. What is only away is tried again soon."""
    async with old_http() as old:
        old.key = "sesame"
        away = Server("away", url="http://127.0.0.1:9")
        with capture_logs() as told:
            async with a_house(server(old.url, key="wrong"), away) as house:
                await house.lost("old")
                await house.lost("away")
    rests = {each["server"]: each["again_in_seconds"] for each in reversed(told) if each["event"] == "mcp_server_lost"}
    assert (rests["old"], rests["away"]) == (900.0, QUICK.first)


async def test_a_frozen_server_costs_a_call_its_time_and_is_told_to_stop() -> None:
    pace = replace(QUICK, answers=0.2)
    async with old_http() as old, a_house(server(old.url, timeout=0.2), pace=pace) as house:
        await house.connected("old")
        old.is_frozen = True
        answered = await house.call("old_look")
        assert answered == "error: old did not answer within 0.2 s, and was told to stop"
        await old.cancelled.wait()
        # Not even our goodbye is answered.
        assert await house.lost("old") == "it did not tell its tools within 0.2 s"
        old.is_frozen = False
        await house.connected("old")


async def test_an_error_of_the_general_kind_is_the_server_s_own_words() -> None:
    """Its number is the one by which the library says that a connection was closed."""
    async with old_http() as old, a_house(server(old.url)) as house:
        await house.connected("old")
        old.refuses = "no such thing here"
        assert await house.call("old_look") == "error: old refused: no such thing here"


async def test_an_answer_without_bounds_is_not_read_to_its_end() -> None:
    async with old_http() as old, a_house(server(old.url)) as house:
        await house.connected("old")
        old.says = "x" * 100_000
        assert len(await house.call("old_look")) < MAX_OBSERVATION + 100
        old.says = "x" * 5_000_000
        assert (await house.call("old_look")).startswith("error: old ")
        old.says = "seen"
        assert await house.said("old_look") == "seen"


async def test_a_packed_answer_is_not_unpacked() -> None:
    async with old_http() as old, a_house(server(old.url)) as house:
        await house.connected("old")
        old.headers = {"Content-Encoding": "gzip"}
        assert (await house.call("old_look")).startswith("error: old went away before it answered")
        assert await house.lost("old") == "it packs its answers, which nobody asked for"


async def test_an_end_that_comes_while_a_connection_breaks_is_an_end() -> None:
    async with old_http() as old, a_house(server(old.url)) as house:
        await house.connected("old")
        old.headers = {"Content-Encoding": "gzip"}
        await house.call("old_look")
