"""The connection to Home Assistant: known, lost and found again; whatever is wrong there is one sentence."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from aiohttp import web

from agent.errors import ToolFailed
from agent.home.home import Home
from tests.agent.home.living import PATIENCE, QUICK, living
from tests.agent.home_server import SmallHome, entity, many, small_home

pytestmark = pytest.mark.shows("X10")


async def lost(home: Home) -> tuple[str, str]:
    """Run a client until it knows that it cannot connect; return why, and the mend."""
    async with asyncio.TaskGroup() as group:
        running = group.create_task(home.run())
        async with asyncio.timeout(PATIENCE):
            await home.until("lost")
        running.cancel()
    return home.reason, home.fix


async def test_it_knows_the_house_with_every_name_and_place() -> None:
    async with small_home() as server, living(server) as told:
        house = told.home.house
        assert house is not None
        assert house.entities["lock.entrance"].names == ("Front Door", "前门")
        assert house.entities["lock.entrance"].places == {"hall", "走廊", "ground", "groundfloor"}
        assert house.named["frontdoor"] == [house.entities["lock.entrance"]]
        assert house.guarded == {
            "lock.entrance": "lock",
            "cover.garage_door": "door",
            "alarm_control_panel.security": "alarm",
            "valve.garden": "valve",
        }
        assert told.home.describe() == {"state": "connected", "losses": 0, "entities": 13, "exposed": 13}


async def test_the_recognizer_is_told_a_few_names_of_each_language_the_areas_first() -> None:
    async with small_home() as server, living(server) as told:
        names = await told.home.names()
        latin, chinese = [one for one in names if one.isascii()], [one for one in names if not one.isascii()]
        assert latin[:3] == ["Bedroom", "Living Room", "Kitchen"]
        assert chinese == ["卧室", "客厅", "厨房", "走廊", "车库", "花园", "床头灯", "前门"]
        assert len(", ".join(latin)) <= 80


async def test_an_alias_that_somebody_gives_there_reaches_the_recognizer_at_once_and_stays_within_bounds() -> None:
    async with small_home() as server, living(server) as told:
        assert "书桌灯" not in await told.home.names()
        server.entities["light.bed_light"]["aliases"].append("书桌灯")
        told.changed.clear()
        await server.rename("light.bed_light", "light.desk", "Desk")
        async with asyncio.timeout(PATIENCE):
            await told.changed.wait()
        names = await told.home.names()
        assert "书桌灯" in names
        assert len("、".join(one for one in names if not one.isascii())) <= 80


async def test_a_restart_is_survived_and_what_is_asked_meanwhile_gets_a_sentence() -> None:
    async with small_home() as server, living(server) as told:
        await server.stop()
        await told.home.until("lost")
        with pytest.raises(ToolFailed, match=r"unavailable: Home Assistant: (it went away|nothing answers at http)"):
            await told.home.ask("get_config")
        await server.start()
        await told.home.until("connected")
        assert await told.home.ask("get_config") == {"state": "RUNNING"}
        assert told.home.losses >= 1


async def test_a_wrong_token_is_told_with_the_mend_and_not_tried_again_at_once() -> None:
    async with small_home() as server:
        reason, fix = await lost(Home(server.url, "wrong"))
        assert (reason, server.logins) == ("it refuses the token", 1)
        assert "HOME_ASSISTANT_TOKEN" in fix


async def test_without_a_token_nobody_is_asked() -> None:
    async with small_home() as server:
        reason, _ = await lost(Home(server.url, "", QUICK))
        assert (reason, server.logins) == ("there is no token for it", 0)


async def test_nothing_there_is_one_sentence() -> None:
    reason, fix = await lost(Home("http://127.0.0.1:9", "t", QUICK))
    assert reason == "nothing answers at http://127.0.0.1:9 (ClientConnectorError)"
    assert fix == "start Home Assistant, or correct [home] url"


async def plain_400(_: web.Request) -> web.StreamResponse:
    return web.Response(status=400, text="400: Bad Request")


async def banned(_: web.Request) -> web.StreamResponse:
    return web.Response(status=403, text="403: Forbidden")


async def moved(_: web.Request) -> web.StreamResponse:
    raise web.HTTPFound("http://127.0.0.1:9/api/websocket")


async def other(request: web.Request) -> web.StreamResponse:
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    await socket.send_str("[1, 2")
    await socket.close()
    return socket


OVER = web.AppKey("over", asyncio.Event)
"""Set at the end of a test."""


async def deep(request: web.Request) -> web.StreamResponse:
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    await socket.send_str("[" * 200_000)
    await socket.close()
    return socket


async def silent(request: web.Request) -> web.StreamResponse:
    """Let in, break the protocol, and owe the goodbye for ever."""
    socket = web.WebSocketResponse(autoclose=False)
    await socket.prepare(request)
    await socket.send_json({"type": "auth_ok"})
    await socket.send_bytes(b"\x00")
    await request.app[OVER].wait()
    return socket


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (deep, "is no Home Assistant"),
        (silent, "it breaks the protocol"),
        (plain_400, "is no Home Assistant, or one that is starting (HTTP 400)"),
        (banned, "it has banned this machine"),
        (moved, "it sends us to another address"),
        (other, "is no Home Assistant"),
    ],
)
async def test_what_is_no_home_assistant_is_one_sentence(
    answer: Callable[[web.Request], Awaitable[web.StreamResponse]], sentence: str
) -> None:
    """A redirect leads nowhere: the token is shown to the address that was configured, and to no other."""
    app = web.Application()
    app[OVER] = asyncio.Event()
    app.router.add_get("/api/websocket", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        reason, fix = await lost(Home(f"http://127.0.0.1:{runner.addresses[0][1]}", "t", QUICK))
        assert sentence in reason
        assert fix
    finally:
        app[OVER].set()
        await runner.cleanup()


@pytest.mark.parametrize("spoils", ["half an ans", "[" * 100_000, '"no object"', "\0"])
async def test_half_an_answer_and_garbage_end_the_connection_and_nothing_else(spoils: str) -> None:
    async with small_home() as server, living(server) as told:
        server.spoils = spoils
        with pytest.raises(ToolFailed):
            await told.home.ask("get_config")
        await told.home.until("lost")
        server.spoils = ""
        await told.home.until("connected")


async def test_a_question_without_an_answer_costs_its_time_and_not_the_connection() -> None:
    async with small_home(silent={"never"}) as server, living(server) as told:
        with pytest.raises(ToolFailed, match=r"did not answer within 0\.3 s"):
            await told.home.ask("never")
        assert await told.home.ask("get_config") == {"state": "RUNNING"}


async def test_one_that_is_still_starting_is_waited_for() -> None:
    async with small_home(lacks={"get_states"}) as server, living(server, connects=False) as told:
        await server.was_asked["get_states"].wait()
        assert told.home.house is None
        server.lacks.clear()
        await told.home.until("connected")
        assert told.home.house is not None


async def test_what_comes_while_it_starts_is_seen() -> None:
    async with small_home(state="STARTING") as server, living(server) as told:
        server.entities["light.late"] = entity("light.late", "Late Light", "on")
        await told.until_known("light.late")


async def test_a_renaming_is_known_at_once() -> None:
    async with small_home() as server, living(server) as told:
        await server.rename("lock.entrance", "lock.main", "Main Entrance")
        await told.until_known("lock.main")
        house = told.home.house
        assert house is not None
        assert house.guarded["lock.main"] == "lock"
        assert "lock.entrance" not in house.entities


async def test_a_token_that_may_not_ask_for_all_still_knows_the_house() -> None:
    async with small_home(is_admin=False) as server, living(server) as told:
        assert told.home.describe() == {"state": "connected", "losses": 0, "entities": 13}


async def test_five_thousand_entities_are_known() -> None:
    server = SmallHome(many(5_000))
    await server.start()
    async with living(server) as told:
        house = told.home.house
        assert house is not None
        assert (len(house.entities), len(house.guarded)) == (5_013, 4)
    await server.stop()
