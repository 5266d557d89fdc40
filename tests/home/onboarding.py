"""The household of a fresh Home Assistant, made by HTTP and WebSocket as a person would; run by its own Python.

usage: python onboarding.py URL [ENTITY …]     prints a token that lasts; with entities: TOKEN in the environment, only
exposes these too.
"""

import asyncio
import os
import sys
from typing import Any, Final

import aiohttp

CLIENT: Final = "http://127.0.0.1/"
AREAS: Final = {
    "living_room": ("Living Room", "客厅"),
    "kitchen": ("Kitchen", "厨房"),
    "bedroom": ("Bedroom", "卧室"),
    "office": ("Office", "书房"),
    "hall": ("Hall", "走廊"),
    "garage": ("Garage", "车库"),
    "garden": ("Garden", "花园"),
}
EXPOSED: Final = {
    "light.bed_light": ("Bed Light", "床头灯", "bedroom"),
    "light.ceiling_lights": ("Ceiling Light", "吸顶灯", "living_room"),
    "light.living_room_rgbww_lights": ("Floor Lamp", "落地灯", "living_room"),
    "light.kitchen_lights": ("Kitchen Light", "厨房灯", "kitchen"),
    "light.office_rgbw_lights": ("Desk Lamp", "台灯", "office"),
    "light.entrance_color_white_lights": ("Hall Light", "走廊灯", "hall"),
    "light.balcony_light": ("Balcony Light", "阳台灯", "living_room"),
    "switch.decorative_lights": ("Christmas Tree", "圣诞树", "living_room"),
    "switch.ac": ("Coffee Machine", "咖啡机", "kitchen"),
    "fan.living_room_fan": ("Living Room Fan", "客厅风扇", "living_room"),
    "fan.ceiling_fan": ("Ceiling Fan", "吊扇", "bedroom"),
    "cover.living_room_window": ("Living Room Blinds", "客厅窗帘", "living_room"),
    "cover.hall_window": ("Bedroom Blinds", "卧室窗帘", "bedroom"),
    "cover.kitchen_window": ("Kitchen Window", "厨房窗户", "kitchen"),
    "cover.garage_door": ("Garage Door", "车库门", "garage"),
    "lock.entrance": ("Front Door", "前门", "hall"),
    "lock.cellar": ("Cellar Door", "地下室门", "hall"),
    "climate.hvac": ("Thermostat", "恒温器", "living_room"),
    "sensor.outside_temperature": ("Outside Temperature", "室外温度", "garden"),
    "sensor.outside_humidity": ("Outside Humidity", "室外湿度", "garden"),
    "sensor.washing_machine": ("Washing Machine", "洗衣机", "kitchen"),
    "alarm_control_panel.security": ("Alarm", "警报", "hall"),
    "weather.demo_weather_south": ("Weather", "天气", None),
    "scene.movie_night": ("Movie Night", "电影之夜", None),
    "script.good_night": ("Good Night", "晚安", None),
    "todo.shopping_list": ("Shopping List", "购物清单", None),
    "todo.chores": ("Chores", "家务", None),
}
"""What Assist may see: the name, the alias in Chinese, the room. Locks and the alarm are not by default."""

WITHOUT_ID: Final = (
    "media_player.living_room",
    "media_player.walkman",
    "vacuum.demo_vacuum_0_ground_floor",
    "valve.front_garden",
)
"""What is exposed besides; configuration.yaml has their names."""


async def onboard(http: aiohttp.ClientSession) -> str:
    """Make the first person; return a token of half an hour.

    The other steps of onboarding are left undone: they set up weather and radio services of the internet.
    """
    person = {"client_id": CLIENT, "name": "Tester", "username": "tester", "password": "tester", "language": "en"}
    code = (await posted(http, "/api/onboarding/users", json=person))["auth_code"]
    grant = {"grant_type": "authorization_code", "code": code, "client_id": CLIENT}
    token = str((await posted(http, "/auth/token", data=grant))["access_token"])
    http.headers["Authorization"] = f"Bearer {token}"
    return token


async def set_up(http: aiohttp.ClientSession, handler: str, **answers: Any) -> None:
    """Set up an integration by its configuration flow."""
    form = await posted(http, "/api/config/config_entries/flow", json={"handler": handler})
    if form["type"] == "form":  # some ask nothing
        await posted(http, f"/api/config/config_entries/flow/{form['flow_id']}", json=answers)


async def posted(http: aiohttp.ClientSession, path: str, **body: Any) -> Any:
    """Post and return the answer. Raises ClientResponseError when it is none."""
    async with http.post(path, **body) as answer:
        if answer.status >= 400:
            raise RuntimeError(f"{path}: {answer.status} {await answer.text()}")
        return await answer.json()


class Socket:
    """The WebSocket of one token: a command, its answer."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._last = 0

    async def log_in(self, token: str) -> None:
        """Say who it is. Raises RuntimeError when it is refused."""
        await self._socket.receive_json()
        await self._socket.send_json({"type": "auth", "access_token": token})
        if (said := await self._socket.receive_json())["type"] != "auth_ok":
            raise RuntimeError(str(said))

    async def ask(self, kind: str, **words: Any) -> Any:
        """Send a command and return its result. Raises RuntimeError when it failed."""
        self._last += 1
        await self._socket.send_json({"id": self._last, "type": kind, **words})
        while (said := await self._socket.receive_json()).get("id") != self._last:
            pass
        if not said["success"]:
            raise RuntimeError(f"{kind} {words}: {said['error']}")
        return said["result"]


async def furnish(socket: Socket) -> None:
    """Give rooms and names, and expose what is in EXPOSED and nothing else."""
    await socket.ask("homeassistant/expose_new_entities/set", assistant="conversation", expose_new=False)
    present = await socket.ask("config/area_registry/list")
    for area in present:
        await socket.ask("config/area_registry/delete", area_id=area["area_id"])
    rooms = {}
    for key, (name, chinese) in AREAS.items():
        made = await socket.ask("config/area_registry/create", name=name, aliases=[chinese])
        rooms[key] = made["area_id"]
    states = [state["entity_id"] for state in await socket.ask("get_states")]
    await socket.ask("homeassistant/expose_entity", assistants=["conversation"], entity_ids=states, should_expose=False)
    for entity, (name, chinese, room) in EXPOSED.items():
        of_room = {"area_id": rooms[room]} if room else {}
        await socket.ask("config/entity_registry/update", entity_id=entity, name=name, aliases=[chinese], **of_room)
    await expose(socket, [*EXPOSED, *WITHOUT_ID])


async def expose(socket: Socket, entities: list[str]) -> None:
    """Let Assist see these."""
    await socket.ask(
        "homeassistant/expose_entity", assistants=["conversation"], entity_ids=entities, should_expose=True
    )


async def main(url: str, more: list[str]) -> None:
    """Make the household and print its token, or only expose more."""
    async with aiohttp.ClientSession(url) as http:
        token = os.environ.get("TOKEN") or await onboard(http)
        async with http.ws_connect("/api/websocket", max_msg_size=0) as connection:
            socket = Socket(connection)
            await socket.log_in(token)
            if more:
                await expose(socket, more)
                return
            await set_up(http, "mcp_server", llm_hass_api=["assist"])
            await set_up(http, "shopping_list")
            await set_up(http, "local_todo", todo_list_name="Chores")
            await furnish(socket)
            lasting = {"client_name": "nakari's tests", "lifespan": 3650}
            print(await socket.ask("auth/long_lived_access_token", **lasting))  # noqa: T201  # its answer


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2:]))
