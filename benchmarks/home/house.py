"""The states of a real house: brought about, read, and judged after a sentence."""

import asyncio
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import httpx
from msgspec import Struct

from benchmarks.home.sentences import Sentence, State
from tests.home.onboarding import EXPOSED, WITHOUT_ID

PATIENCE: Final = 3.0
"""Seconds until a state has come, which an answer may run ahead of."""

BETWEEN: Final = 0.1
"""Seconds between two looks."""

LONGEST: Final = 20.0
"""Seconds that blinds take."""

COLOURS: Final = {"red": 0, "green": 120, "blue": 240}
"""Hue, degrees."""

RESTLESS: Final = frozenset({"sensor", "weather", "vacuum", "scene", "cover"})
"""Domains that change by themselves, or are still moving from the sentence before."""

SERVICES: Final = {
    "on": "homeassistant.turn_on",
    "off": "homeassistant.turn_off",
    "locked": "lock.lock",
    "unlocked": "lock.unlock",
    "open": "cover.open_cover",
    "closed": "cover.close_cover",
    "docked": "vacuum.return_to_base",
}
"""What brings a state about."""


class Snapshot(Struct, frozen=True):
    """What is exposed, at one moment."""

    states: Mapping[str, Mapping[str, Any]]
    items: Mapping[str, frozenset[str]]
    """What stands on the lists, in small letters."""

    def shows(self, entity: str, wanted: str, before: "Snapshot | None" = None) -> bool:
        """Say whether an entity is so; `before` is what a scene is compared with."""
        state = str(self.states[entity]["state"])
        match wanted.split():
            case ["with" | "without" as how, *item]:
                return (" ".join(item).lower() in self.items[entity]) == (how == "with")
            case [number, "%" | "degrees" as unit]:
                return self._measures(entity, unit, float(number))
            case [colour] if colour in COLOURS:
                hue, saturation = self.states[entity]["attributes"].get("hs_color") or (0, 0)
                return bool(saturation > 80 and abs((hue - COLOURS[colour] + 180) % 360 - 180) < 8)
            case ["activated"]:
                return before is not None and before.states[entity]["state"] != state
        also = {"docked": {"returning"}, "on": {"playing", "paused", "idle"}}.get(wanted, set())
        return state in {wanted, *also}

    def _measures(self, entity: str, unit: str, number: float) -> bool:
        told = self.states[entity]["attributes"]
        if unit == "degrees":
            return bool(told.get("temperature") == number)
        if entity.startswith("cover."):
            return bool(told.get("current_position") == number)
        return bool(abs((told.get("brightness") or 0) - 2.55 * number) <= 2)

    def leads_to(self, entity: str, wanted: str, before: "Snapshot") -> bool:
        """Say whether it is so, or on its way: blinds take their time."""
        moving = {"open": "opening", "closed": "closing"}.get(wanted)
        return self.shows(entity, wanted, before) or self.states[entity]["state"] == moving


class RealHouse:
    """A Home Assistant that scripts/home-assistant started."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        """`http` has its address and a token."""
        self._http = http

    async def call(self, service: str, entity: str, **more: object) -> Any:
        """Call a service (domain.name) and return its answer. Raises HTTPStatusError."""
        path = f"/api/services/{service.replace('.', '/')}"
        returns = "?return_response" if service == "todo.get_items" else ""
        answer = await self._http.post(path + returns, json={"entity_id": entity, **more})
        answer.raise_for_status()
        return answer.json()

    async def told(self, words: str, language: str) -> str:
        """Say something to its own agent and return the answer."""
        body = {"text": words, "language": "zh-CN" if language == "zh" else "en"}
        answer = (await self._http.post("/api/conversation/process", json=body)).json()
        return str(answer["response"]["speech"]["plain"]["speech"])

    async def look(self) -> Snapshot:
        """Return how it is now."""
        found = {state["entity_id"]: state for state in (await self._http.get("/api/states")).json()}
        items = {}
        for entity in (entity for entity in EXPOSED if entity.startswith("todo.")):
            told = await self.call("todo.get_items", entity, status=["needs_action"])
            listed = told["service_response"][entity]["items"]
            items[entity] = frozenset(item["summary"].lower() for item in listed)
        return Snapshot({entity: found[entity] for entity in (*EXPOSED, *WITHOUT_ID)}, items)

    async def prepare(self, wanted: State) -> Snapshot:
        """Bring these states about, and return how it is then. Raises TimeoutError."""
        now = await self.look()
        for entity, state in wanted.items():
            if not now.shows(entity, state):
                service, more = _service(entity, state)
                await self.call(service, entity, **more)
        now = await self.until(lambda now: all(now.shows(*each) for each in wanted.items()), LONGEST)
        if wrong := [each for each in wanted.items() if not now.shows(*each)]:
            raise TimeoutError(f"the house would not become so: {wrong}")
        return now

    async def until(self, is_so: Callable[[Snapshot], bool], patience: float = PATIENCE) -> Snapshot:
        """Look until it is so, at most that many seconds; return what was seen last."""
        end = asyncio.get_running_loop().time() + patience
        now = await self.look()
        for _ in range(round(patience / BETWEEN)):
            if is_so(now) or asyncio.get_running_loop().time() >= end:
                break
            await asyncio.sleep(BETWEEN)
            now = await self.look()
        return now


def _service(entity: str, state: str) -> tuple[str, dict[str, object]]:
    """Return what brings a state about."""
    match state.split():
        case [number, "%"]:
            is_cover = entity.startswith("cover.")
            change = ("cover.set_cover_position", "position") if is_cover else ("light.turn_on", "brightness_pct")
            return change[0], {change[1]: int(number)}
        case [number, "degrees"]:
            return "climate.set_temperature", {"temperature": float(number)}
        case ["with" | "without" as how, *item]:
            return f"todo.{'add' if how == 'with' else 'remove'}_item", {"item": " ".join(item)}
        case [colour] if colour in COLOURS:
            return "light.turn_on", {"hs_color": [COLOURS[colour], 100]}
    return SERVICES[state], {}


def wrong(sentence: Sentence, before: Snapshot, after: Snapshot, answer: str) -> str:
    """Return what is not as the sentence wanted it; "" when all is."""
    missing = [
        f"{entity} is not {state}"
        for entity, state in sentence.after.items()
        if not _came(entity, state, before, after)
    ]
    missing += [f"changed {entity}" for entity in also_changed(sentence, before, after)]
    if sentence.answer and not re.search(sentence.answer, answer, re.IGNORECASE):
        missing.append("another answer")
    return ", ".join(missing)


def also_changed(sentence: Sentence, before: Snapshot, after: Snapshot) -> list[str]:
    """Return what changed and should have stayed."""
    return [
        entity
        for entity, state in before.states.items()
        if entity not in sentence.after
        and entity.partition(".")[0] not in RESTLESS
        and after.states[entity]["state"] != state["state"]
    ]


def _came(entity: str, state: str, before: Snapshot, after: Snapshot) -> bool:
    return after.leads_to(entity, state, before)
