"""A house with everything on: the tools that Home Assistant offers by MCP, and a folder full of own files."""

from pathlib import Path
from typing import Final

from agent.model.messages import ToolSpec
from agent.tools.registry.discovery import discover
from agent.tools.tool import AnyArguments, Tool
from memory.json_value import Json

TEXT: Final[dict[str, Json]] = {"type": "string"}
PERCENT: Final[dict[str, Json]] = {"type": "integer", "minimum": 0, "maximum": 100}

OPENS = ("awning", "blind", "curtain", "damper", "door", "garage", "gate", "shade", "shutter", "window", "water", "gas")
SWITCHES = ("identify", "restart", "update", *OPENS, "outlet", "switch", "tv", "speaker", "receiver", "projector")


def _target(*classes: str, **more: Json) -> dict[str, Json]:
    """Return what most of its intents take."""
    of_class: dict[str, Json] = {}
    if classes:
        of_class = {"device_class": {"type": "array", "items": {"type": "string", "enum": [*classes]}}}
    domain: Json = {"type": "array", "items": {"type": "string"}}
    return {"name": TEXT, "area": TEXT, "floor": TEXT, "domain": domain, **of_class, **more}


OF_HOME_ASSISTANT: Final[tuple[tuple[str, str, dict[str, Json]], ...]] = (
    (
        "HassTurnOn",
        "Turns on/opens/presses a device or entity. For locks, this performs a 'lock' action. Use for requests like "
        "'turn on', 'activate', 'enable', or 'lock'.",
        _target(*SWITCHES),
    ),
    (
        "HassTurnOff",
        "Turns off/closes a device or entity. For locks, this performs an 'unlock' action. Use for requests like "
        "'turn off', 'deactivate', 'disable', or 'unlock'.",
        _target(*SWITCHES),
    ),
    ("HassSetPosition", "Sets the position of a device or entity", _target(*OPENS, position=PERCENT)),
    ("HassStopMoving", "Stops a moving device or entity", _target(*OPENS)),
    (
        "HassLightSet",
        "Sets the brightness percentage or color of a light",
        _target(color=TEXT, temperature={"type": "integer", "minimum": 0}, brightness=PERCENT),
    ),
    (
        "HassClimateSetTemperature",
        "Sets the target temperature of a climate device or entity",
        _target(temperature=TEXT),
    ),
    ("HassFanSetSpeed", "Sets a fan's speed by percentage", _target(percentage=PERCENT)),
    ("HassHumidifierSetpoint", "Set desired humidity level", {"name": TEXT, "humidity": PERCENT}),
    ("HassHumidifierMode", "Set humidifier mode if supported", {"name": TEXT, "mode": TEXT}),
    ("HassLawnMowerStartMowing", "Starts a lawn mower", _target()),
    ("HassLawnMowerDock", "Sends a lawn mower to dock", _target()),
    ("HassVacuumStart", "Starts a vacuum", _target()),
    ("HassVacuumReturnToBase", "Returns a vacuum to base", _target()),
    ("HassMediaPause", "Pauses a media player", _target("tv", "speaker", "receiver", "projector")),
    ("HassMediaUnpause", "Resumes a media player", _target("tv", "speaker", "receiver", "projector")),
    ("HassMediaNext", "Skips a media player to the next item", _target("tv", "speaker", "receiver", "projector")),
    ("HassMediaPrevious", "Replays the previous item for a media player", _target("tv", "speaker", "receiver")),
    ("HassMediaPlayerMute", "Mutes a media player", _target("tv", "speaker", "receiver", "projector")),
    ("HassMediaPlayerUnmute", "Unmutes a media player", _target("tv", "speaker", "receiver", "projector")),
    (
        "HassMediaSearchAndPlay",
        "Searches for media and plays the first result",
        _target(search_query=TEXT, media_class={"type": "string", "enum": ["album", "artist", "playlist", "track"]}),
    ),
    (
        "HassSetVolume",
        "Sets the volume percentage of a media player",
        _target("tv", "speaker", "receiver", "projector", volume_level=PERCENT),
    ),
    (
        "HassSetVolumeRelative",
        "Increases or decreases the volume of a media player",
        _target(volume_step={"anyOf": [{"type": "string", "enum": ["up", "down"]}, {"type": "integer"}]}),
    ),
    ("HassListAddItem", "Add item to a todo list", {"item": TEXT, "name": TEXT}),
    ("HassListCompleteItem", "Complete item on a todo list", {"item": TEXT, "name": TEXT}),
    (
        "todo_get_items",
        "Query a to-do list to find out what items are on it. Use this to answer questions like 'What's on my task "
        "list?' or 'Read my grocery list'. Filters items by status (needs_action, completed, all).",
        {
            "todo_list": {"type": "string", "enum": ["Shopping list"]},
            "status": {
                "type": "string",
                "enum": ["needs_action", "completed", "all"],
                "description": "Filter returned items by status, by default returns incomplete items",
                "default": "needs_action",
            },
        },
    ),
    (
        "GetLiveContext",
        "Provides real-time information about the CURRENT state, value, or mode of devices, sensors, entities, or "
        "areas. Use this tool for: 1. Answering questions about current conditions (e.g., 'Is the light on?'). 2. As "
        "the first step in conditional actions (e.g., 'If the weather is rainy, turn off sprinklers' requires "
        "checking the weather first).",
        {},
    ),
)
"""Name, description and parameters as its 2026.2 tells of them: its source, with the demo house's kinds of things."""

OWN_FILE: Final = '''
"""A tool of the house."""

EFFECT = "reversible"


async def {name}_{number}(place: str, minutes: int = 10, note: str = "") -> str:
    """{what} for so many minutes, at a place of the house, and write the note down with it."""
    return "done"
'''

CHORES: Final = ("water", "heat", "air", "light", "clean", "feed", "charge", "print", "measure", "ring")


def home_tools() -> list[Tool]:
    """Return what Home Assistant offers, as the MCP client has it."""

    async def done(root: dict[str, Json]) -> str:
        return "done"

    return [
        Tool(
            ToolSpec(f"home__{name}", description, {"type": "object", "properties": parameters}),
            AnyArguments,
            done,
            outside="home",
            group="home",
        )
        for name, description, parameters in OF_HOME_ASSISTANT
    ]


def own_tools(folder: Path, count: int) -> list[Tool]:
    """Write so many tool files, and return what they hold as it is found."""
    folder.mkdir(exist_ok=True)
    for number in range(count):
        chore = CHORES[number % len(CHORES)]
        text = OWN_FILE.format(name=chore, number=number, what=chore.capitalize())
        (folder / f"{chore}_{number}.py").write_text(text, encoding="utf-8")
    found = discover(None, folder)
    return [tool for tool in found.tools if tool.name in found.own]
