"""A small server with the answers of Home Assistant 2026.2, and its faults: WebSocket and MCP over a house of ten."""

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

TOKEN = "a-long-lived-token"

Rows = list[dict[str, Any]]


def entity(
    id_: str, name: str, state: str, area: str | None = None, *aliases: str, **attributes: Any
) -> dict[str, Any]:
    """An entity: its state, and what the registry knows of it."""
    return {"id": id_, "name": name, "state": state, "area": area, "aliases": [*aliases], "attributes": attributes}


HOUSE = (
    entity("light.bed_light", "Bed Light", "off", "bedroom", "床头灯"),
    entity("light.balcony_light", "Balcony Light", "unavailable", "living_room"),
    entity("switch.coffee", "Coffee Machine", "off", "kitchen"),
    entity("lock.entrance", "Front Door", "locked", "hall", "前门"),
    entity("cover.garage_door", "Garage Door", "closed", "garage", device_class="garage"),
    entity("cover.blinds", "Blinds", "closed", "bedroom", device_class="blind"),
    entity("alarm_control_panel.security", "Alarm", "armed_away", "hall"),
    entity("valve.garden", "Garden Valve", "closed", "garden"),
    entity("sensor.washing_machine", "Washing Machine", "running", "kitchen"),
    entity("sensor.power", "Washing Machine Power", "430.5", "kitchen"),
    entity("script.good_night", "Good Night", "off"),
    entity("script.come_home", "Come Home", "off"),
    entity("scene.movie_night", "Movie Night", "unknown", entity_id=["light.bed_light"]),
)
AREAS: Rows = [
    {"area_id": one, "name": name, "aliases": [chinese], "floor_id": "ground"}
    for one, name, chinese in (
        ("bedroom", "Bedroom", "卧室"),
        ("living_room", "Living Room", "客厅"),
        ("kitchen", "Kitchen", "厨房"),
        ("hall", "Hall", "走廊"),
        ("garage", "Garage", "车库"),
        ("garden", "Garden", "花园"),
    )
]
SCRIPTS = {
    "script.good_night": [{"action": "light.turn_off", "target": {"entity_id": "all"}}, {"action": "lock.lock"}],
    "script.come_home": [{"if": [], "then": [{"action": "lock.unlock", "target": {"entity_id": "lock.entrance"}}]}],
}
SENTENCES: dict[str, tuple[str, str, str]] = {
    "turn on the bed light": ("HassTurnOn", "light.bed_light", "Turned on the light"),
    "打开床头灯": ("HassTurnOn", "light.bed_light", "床头灯已打开"),
    "turn on the balcony light": ("HassTurnOn", "light.balcony_light", "Turned on the light"),
    "unlock the front door": ("HassTurnOff", "lock.entrance", "Unlocking"),
    "lock the front door": ("HassTurnOn", "lock.entrance", "Locked"),
    "把前门解锁": ("HassTurnOff", "lock.entrance", "正在解锁"),
    "come home": ("HassTurnOn", "script.come_home", "Ran the script"),
    "is the balcony light on": ("HassGetState", "light.balcony_light", "No, it is unavailable"),
    "is the washing machine done": ("HassGetState", "sensor.washing_machine", "Washing Machine is running"),
}
"""Sentences that it understands: the intent, the entity, the answer."""

DONE = {
    "light": {"HassTurnOn": "on", "HassTurnOff": "off"},
    "lock": {"HassTurnOn": "locked", "HassTurnOff": "unlocked"},
    "cover": {"HassTurnOn": "open", "HassTurnOff": "closed"},
    "switch": {"HassTurnOn": "on", "HassTurnOff": "off"},
}


def _plain(sentence: str) -> str:
    """Return a sentence as it is compared: case and punctuation do not matter."""
    return sentence.strip(" .?!。？！").lower()


def many(lamps: int) -> dict[str, dict[str, Any]]:
    """A house with so many lamps more."""
    more = (
        entity(f"light.lamp_{each}", f"Lamp {each} 灯", "on", "bedroom", min_mireds=153, max_mireds=500, brightness=180)
        for each in range(lamps)
    )
    return {each["id"]: dict(each) for each in (*HOUSE, *more)}


@dataclass
class SmallHome:
    """The house behind the server, and what is wrong with it."""

    entities: dict[str, dict[str, Any]] = field(default_factory=lambda: {each["id"]: dict(each) for each in HOUSE})
    token: str = TOKEN
    state: str = "RUNNING"
    has_mcp: bool = True
    is_admin: bool = True
    lacks: set[str] = field(default_factory=set)
    """Commands that it does not know yet, as while it starts."""
    silent: set[str] = field(default_factory=set)
    """Commands that it never answers."""
    cuts: set[str] = field(default_factory=set)
    """Commands that it goes away at, done or not."""
    spoils: str = ""
    """Sent instead of an answer; then the connection is cut."""
    asked: list[dict[str, Any]] = field(default_factory=list)
    """Every command, in order."""
    called: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    """Every call of a tool or a sentence that was carried out: the intent and its slots."""
    was_asked: defaultdict[str, asyncio.Event] = field(default_factory=lambda: defaultdict(asyncio.Event))
    """By command: set once it came."""
    logins: int = 0
    url: str = ""
    _listeners: list[tuple[web.WebSocketResponse, int, str, set[str]]] = field(default_factory=list)
    _sockets: set[web.WebSocketResponse] = field(default_factory=set)
    _runner: web.AppRunner | None = None
    _port: int = 0

    async def start(self) -> None:
        """Listen, again on the port it had."""
        app = web.Application()
        app.router.add_get("/api/websocket", self._socket)
        app.router.add_post("/api/mcp", self._mcp)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port, reuse_address=True)
        await site.start()
        self._port = self._runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{self._port}"

    async def stop(self) -> None:
        """Cut every connection, and listen no more."""
        for socket in [*self._sockets]:
            await socket.close()
        if self._runner is not None:
            await self._runner.cleanup()
        self._listeners.clear()

    async def change(self, id_: str, state: str) -> None:
        """Give an entity another state, and tell who listens."""
        self.entities[id_]["state"] = state
        await self._tell("", id_, {"c": {id_: {"+": {"s": state, "lc": 1.0}}}})

    async def remove(self, id_: str) -> None:
        """Take an entity out."""
        del self.entities[id_]
        await self._tell("", id_, {"r": [id_]})
        await self._tell("entity_registry_updated", id_, {"data": {"action": "remove", "entity_id": id_}})

    async def rename(self, id_: str, new: str, name: str) -> None:
        """Give an entity another id and name, as a person does there."""
        self.entities[new] = {**self.entities.pop(id_), "id": new, "name": name, "registered": f"registered-{id_}"}
        await self._tell("", id_, {"r": [id_]})
        await self._tell("entity_registry_updated", id_, {"data": {"action": "update", "old_entity_id": id_}})

    async def _tell(self, kind: str, id_: str, event: dict[str, Any]) -> None:
        for socket, number, wanted, ids in [*self._listeners]:
            if wanted == kind and (kind or id_ in ids):
                with suppress(ConnectionError):
                    await socket.send_json({"id": number, "type": "event", "event": event})

    async def _socket(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self._sockets.add(socket)
        try:
            await socket.send_json({"type": "auth_required", "ha_version": "2026.2.3"})
            self.logins += 1
            if (await socket.receive_json())["access_token"] != self.token:
                await socket.send_json({"type": "auth_invalid", "message": "Invalid access token or password"})
                return socket
            await socket.send_json({"type": "auth_ok", "ha_version": "2026.2.3"})
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    await self._answer(socket, json.loads(message.data))
        finally:
            self._sockets.discard(socket)
        return socket

    async def _answer(self, socket: web.WebSocketResponse, asked: dict[str, Any]) -> None:
        kind, number = asked["type"], asked["id"]
        self.asked.append(asked)
        self.was_asked[kind].set()
        if kind in self.silent:
            return
        if kind in self.cuts:
            await socket.close()
            return
        if self.spoils:
            await socket.send_str(self.spoils)
            await socket.close()
            return
        error = {"code": "unknown_command", "message": "Unknown command."} if kind in self.lacks else None
        if kind == "homeassistant/expose_entity/list" and not self.is_admin:
            error = {"code": "unauthorized", "message": "Unauthorized"}
        told: dict[str, Any] = {"id": number, "type": "result", "success": error is None}
        await socket.send_json({**told, "error": error} if error else {**told, "result": self.result(asked)})
        if kind == "subscribe_entities" and not error:
            ids = set(asked["entity_ids"])
            self._listeners.append((socket, number, "", ids))
            there = {one: {"s": each["state"], "a": {}} for one, each in self.entities.items() if one in ids}
            await socket.send_json({"id": number, "type": "event", "event": {"a": there}})
        if kind == "subscribe_events":
            self._listeners.append((socket, number, asked["event_type"], set()))
        if kind == "unsubscribe_events":
            self._listeners = [each for each in self._listeners if each[:2] != (socket, asked["subscription"])]

    def result(self, asked: dict[str, Any]) -> Any:
        """Return what a command gives."""
        answers: dict[str, Callable[[], Any]] = {
            "get_states": self._states,
            "get_config": lambda: {"state": self.state},
            "config/entity_registry/list": lambda: [self._row(each) for each in self.entities.values()],
            "config/entity_registry/get_entries": lambda: {
                one: self._row(self.entities[one]) for one in asked["entity_ids"]
            },
            "config/area_registry/list": lambda: AREAS,
            "config/floor_registry/list": lambda: [{"floor_id": "ground", "name": "Ground Floor", "aliases": []}],
            "config/device_registry/list": list,
            "homeassistant/expose_entity/list": lambda: {
                "exposed_entities": {one: {"conversation": True} for one in self.entities}
            },
            "conversation/agent/homeassistant/debug": lambda: {"results": [self._understood(asked["sentences"][0])]},
            "conversation/process": lambda: self._carried_out(asked["text"]),
            "script/config": lambda: {"config": {"sequence": SCRIPTS[asked["entity_id"]]}},
        }
        return answers[asked["type"]]() if asked["type"] in answers else None

    def _states(self) -> Rows:
        return [
            {
                "entity_id": one,
                "state": each["state"],
                "attributes": {"friendly_name": each["name"], **each["attributes"]},
                "last_changed": "2026-11-22T12:00:00.000000+00:00",
                "context": {"id": "01M81RG4Y7V9KNPM8JDNSCTNZQ", "parent_id": None, "user_id": None},
            }
            for one, each in self.entities.items()
        ]

    def _row(self, each: dict[str, Any]) -> dict[str, Any]:
        return {
            "entity_id": each["id"],
            "id": each.get("registered", f"registered-{each['id']}"),
            "name": each["name"],
            "area_id": each["area"],
            "aliases": each["aliases"],
            "options": {"conversation": {"should_expose": True}},
        }

    def _understood(self, said: str) -> dict[str, Any] | None:
        sentence = _plain(said)
        if sentence == "tell me a joke":  # as the real one does
            time = {"name": "HassGetCurrentTime"}
            return {"intent": time, "details": {}, "targets": {}, "match": True, "fuzzy_match": True}
        if sentence == "make it dark in the living room":  # this, too
            name, targets = {"name": "HassClimateGetTemperature"}, {"climate.hvac": {"matched": True}}
            return {"intent": name, "details": {}, "targets": targets, "match": True, "fuzzy_match": True}
        if sentence == "open sesame":
            return {"match": True, "source": "trigger", "sentence_template": "open sesame"}
        if sentence not in SENTENCES:
            return None
        intent, id_, _ = SENTENCES[sentence]
        name = self.entities[id_]["name"]
        slot = {"name": {"name": "name", "value": name, "text": name.lower()}}
        targets = {} if id_.startswith("lock.") else {id_: {"matched": True}}
        return {"intent": {"name": intent}, "details": slot, "targets": targets, "match": True, "fuzzy_match": False}

    def _carried_out(self, said: str) -> dict[str, Any]:
        sentence = _plain(said)
        if sentence not in SENTENCES:
            code = {"code": "no_intent_match"}
            words = "Sorry, I couldn't understand that"
            return {"response": {"response_type": "error", "data": code, "speech": {"plain": {"speech": words}}}}
        intent, id_, words = SENTENCES[sentence]
        return {"response": self.carry_out(intent, id_, words), "conversation_id": "1"}

    def carry_out(self, intent: str, id_: str, words: str) -> dict[str, Any]:
        """Do it, and answer as the real one: also of what cannot be reached that it is done."""
        self.called.append((intent, {"id": id_}))
        each = self.entities[id_]
        if each["state"] != "unavailable":
            each["state"] = DONE.get(id_.partition(".")[0], {}).get(intent, each["state"])
        success = [{"name": each["name"], "type": "entity", "id": id_}]
        kind = "query_answer" if intent == "HassGetState" else "action_done"
        return {
            "response_type": kind,
            "speech": {"plain": {"speech": words, "extra_data": None}},
            "data": {"targets": [], "success": success, "failed": []},
        }

    async def _mcp(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {self.token}":
            return web.Response(status=401, text="401: Unauthorized")
        if not self.has_mcp:
            return web.Response(status=404, text="Model Context Protocol server is not configured")
        asked = await request.json()
        if "id" not in asked:
            return web.Response(status=202)
        return web.json_response({"jsonrpc": "2.0", "id": asked["id"], **self._mcp_result(asked)})

    def _mcp_result(self, asked: dict[str, Any]) -> dict[str, Any]:
        match asked["method"]:
            case "initialize":
                version = asked["params"]["protocolVersion"]
                version = version if version <= "2025-11-25" else "2025-06-18"
                info = {"name": "home-assistant", "version": "1.26.0"}
                return {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}}
            case "tools/list":
                named = {"type": "object", "properties": {key: {"type": "string"} for key in ("name", "area", "floor")}}
                names = ("HassTurnOn", "HassTurnOff", "GetLiveContext", "good_night", "come_home")
                return {"result": {"tools": [{"name": name, "inputSchema": named} for name in names]}}
            case "tools/call":
                return {"result": self._called(asked["params"]["name"], asked["params"].get("arguments") or {})}
            case _:
                return {"error": {"code": -32601, "message": "Method not found"}}

    def _called(self, tool: str, given: dict[str, Any]) -> dict[str, Any]:
        found = next((one for one, each in self.entities.items() if each["name"] == given.get("name")), None)
        if found is None:
            told = "Error calling tool: <MatchFailedError result=MatchTargetsResult(is_match=False)>"
            return {"content": [{"type": "text", "text": told}], "isError": True}
        answer = self.carry_out(tool, found, "")
        return {"content": [{"type": "text", "text": json.dumps(answer)}], "isError": False}


@asynccontextmanager
async def small_home(**wrong: Any) -> AsyncIterator[SmallHome]:
    """A server that answers until the end of the block."""
    home = SmallHome(**wrong)
    await home.start()
    try:
        yield home
    finally:
        await home.stop()
        await asyncio.sleep(0)
