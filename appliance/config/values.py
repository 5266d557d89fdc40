"""What a text of the settings has to mean where its type does not tell."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC
from pathlib import Path
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from agent.time.quiet import quiet_hours
from appliance.config.agent.tools import ENVIRONMENT_NAME
from appliance.config.meaning import shown
from appliance.config.network.http import wrong_listen, wrong_part
from appliance.config.network.machines import SCHEMES, wrong_household, wrong_name
from audio.reflexes.words import REFLEXES

_LANGUAGE = re.compile(r"[a-z]{2,3}\Z")
_WEB = (
    *("model.base_url", "mcp.url", "web.searxng_url", "weather.url", "weather.places_url", "home.url", "sovits.url"),
    *("openai_recognizer.url", "openai_speech.url", "memory.embedding_url"),
)
_SCHEMES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(_WEB, ("http://", "https://")),
    "calendar.url": ("http://", "https://", "webcal://"),
    "wyoming_recognizer.url": ("tcp://",),
    "wyoming_speech.url": ("tcp://",),
    "voice.edge_url": ("ws://", "wss://"),
    "machines.url": SCHEMES,
    "memory.uri": ("neo4j://", "neo4j+s://", "neo4j+ssc://", "bolt://", "bolt+s://", "bolt+ssc://"),
}
_PATHS = {"state.folder", "door.socket", "log.file", "calendar.file"}
_PATHS |= {"http.certificate", "http.key", "machines.ca", "machines.users"}
_LISTS_OF_PATHS = {"files.folders", "piper.models"}
_PERHAPS_PATHS = {"ears.model", "memory.embedding_model"}
_JUDGES: Mapping[str, Callable[[str], str]] = {
    "wyoming.listen": wrong_listen,
    "machines.household": wrong_household,
    "machines.name": wrong_name,
}
"""By "section.key"."""


def listed(value: str) -> tuple[str, ...]:
    """Return the parts of a setting that holds several, separated by commas."""
    return tuple(part.strip() for part in value.split(",") if part.strip())


def wrong_meaning(section: str, key: str, value: object) -> str:
    """Return what is wrong with a value of the right type, as the rest of the sentence; "" when nothing is."""
    characters = "".join(_texts_of(value))
    if unseen := next((each for each in characters if unicodedata.category(each) == "Cc" and each not in "\n\r\t"), ""):
        return f"holds a character that cannot be seen (U+{ord(unseen):04X}); take it out"
    name = f"{section}.{key}"
    if name in _LISTS_OF_PATHS:
        return next(filter(None, (_wrong_path(each, is_one=True) for each in _texts_of(value))), "")
    if section in ("http", "wyoming") and isinstance(value, tuple):
        return next(filter(None, (wrong_part(key, each) for each in value)), "")
    return _wrong_text(name, key, value) if isinstance(value, str) and value else ""


def _wrong_text(name: str, key: str, value: str) -> str:
    if not value.strip():
        return 'holds nothing but spaces; write "" for none'
    if name in _PATHS | _PERHAPS_PATHS:
        return _wrong_path(value, is_one=name in _PATHS)
    if name in _SCHEMES:
        return _wrong_address(value, _SCHEMES[name])
    if key in ("api_key_env", "embedding_key_env") and not ENVIRONMENT_NAME.match(value):
        return "should be the name of the variable that holds the key, such as OPENAI_API_KEY, not the key itself"
    if key in ("password_env", "url_env") and not ENVIRONMENT_NAME.match(value):
        return "should be the name of the variable that holds it, such as CALENDAR_PASSWORD, not the secret itself"
    return _wrong_word(name, key, value)


def _wrong_word(name: str, key: str, value: str) -> str:
    if name == "ears.language" and value != "auto" and not _LANGUAGE.match(value):
        return f'should be a code of ISO 639-1 in small letters, such as "en" or "zh", or "auto"; it is {shown(value)}'
    if name == "reflexes.words" and (strange := next((w for w in listed(value) if w not in REFLEXES), "")):
        return f"should name some of {', '.join(REFLEXES)}; {shown(strange)} is none"
    if name in _JUDGES:
        return _JUDGES[name](value)
    return _wrong_time(key, value)


def _texts_of(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        yield from value
    elif isinstance(value, Mapping):
        yield from value.values()


def _wrong_path(value: str, *, is_one: bool) -> str:
    """Return what is wrong with a path, or with a name that may be a path."""
    if is_one and not Path(value).name:
        return f"should name a place below the root; it is {shown(value)}"
    if value.startswith("~"):
        try:
            Path(value).expanduser()
        except RuntimeError:
            return f"names a user that this machine does not know; it is {shown(value)}"
    elif is_one and not value.startswith("/"):
        return f"should begin with / or ~/, so that it is the same wherever nakari is started; it is {shown(value)}"
    return ""


def _wrong_time(key: str, value: str) -> str:
    try:
        if key == "timezone":
            wanted = "a zone of this system's tzdata, such as Europe/Berlin"
            ZoneInfo(value)
        elif key == "quiet_hours":
            wanted = 'two times of day, such as "22:00-07:00"'
            quiet_hours(value, UTC)
    except (OSError, ValueError, KeyError):  # no such zone is a KeyError, a path out of tzdata a ValueError
        return f"should be {wanted}; it is {shown(value)}"
    return ""


def _wrong_address(value: str, schemes: tuple[str, ...]) -> str:
    if not value.startswith(schemes):
        return f"should begin with {' or '.join(schemes)}; it is {shown(value)}"
    try:
        address = urlsplit(value)
        host, _ = address.hostname, address.port
    except ValueError as error:
        return f"is no address ({error}); it is {shown(value)}"
    if address.username is not None:
        return "should hold no user and no password; they have places of their own, and this file is no secret"
    return "" if host else f"names no host; it is {shown(value)}"
