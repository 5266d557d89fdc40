"""The configuration file: TOML to settings, or one sentence about what is wrong with it; and settings back to TOML."""

import json
import re
import textwrap
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar, get_type_hints
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from agent.time.quiet import quiet_hours
from appliance.errors import ConfigError
from appliance.settings import Meaning, NamedModel, Settings
from audio.reflexes.words import REFLEXES

CATALOG = "models"
"""The section whose tables people name themselves: [models.NAME]."""

SECTIONS: Mapping[str, type] = {name: kind for name, kind in get_type_hints(Settings).items() if name != CATALOG}
"""Section name to its dataclass, in the file's order; the catalog is none of them."""

_HEADER = re.compile(r"^\s*\[\s*([\w.-]+)\s*\]")
_MODEL_NAME = re.compile(r"[a-z0-9][a-z0-9-]*\Z")
RESERVED = ("configured", "offline")
"""What the model of [model] and the one that is always there are called."""

Checked = TypeVar("Checked")

_ENVIRONMENT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_SCHEMES = {
    ("model", "base_url"): ("http://", "https://"),
    ("voice", "edge_url"): ("ws://", "wss://"),
    ("memory", "embedding_url"): ("http://", "https://"),
    ("memory", "uri"): ("neo4j://", "neo4j+s://", "neo4j+ssc://", "bolt://", "bolt+s://", "bolt+ssc://"),
}


@dataclass(frozen=True, slots=True)
class SettingsText:
    """The text of a configuration file; its errors name the place."""

    name: str
    """For people: the path."""
    text: str

    def parse(self) -> Settings:
        """Return the settings, defaults where the file is silent. Raises `ConfigError` on the first thing wrong."""
        try:
            document = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"{self.name} is not valid TOML: {error}") from error
        catalog = document.pop(CATALOG, {})
        for name, table in document.items():
            self._check_names(name, table, SECTIONS.get(name))
        settings = replace(self._checked(document, Settings), models=self._catalog(catalog))
        for section, keys in document.items():
            self._check_meanings(section, section, keys, getattr(settings, section))
        self._check_aliases(settings)
        return settings

    def _check_meanings(self, section: str, rules: str, keys: Iterable[str], values: object) -> None:
        for key in keys:
            if wrong := _wrong_meaning(rules, key, getattr(values, key)):
                raise self._error(section, key, f"[{section}] {key} {wrong}")

    def _catalog(self, tables: object) -> dict[str, NamedModel]:
        if not isinstance(tables, dict):
            raise self._error(
                CATALOG, "", f"{CATALOG} is a catalog: write [{CATALOG}.NAME] on a line, its keys below it"
            )
        for name, table in tables.items():
            section = f"{CATALOG}.{name}"
            self._check_names(section, table, NamedModel)
            if not _MODEL_NAME.match(name) or name in RESERVED:
                raise self._error(section, "", f"[{section}] should have a name of small letters, digits and -")
        named = {name: self._checked(table, NamedModel, f"{CATALOG}.{name}") for name, table in tables.items()}
        for name, table in tables.items():
            self._check_meanings(f"{CATALOG}.{name}", "model", table, named[name])
        return named

    def _check_aliases(self, settings: Settings) -> None:
        """Every name of a model that is used is one of the catalog's."""
        for key in ("use", "fallbacks"):
            for name in listed(getattr(settings.model, key)):
                if name not in settings.models:
                    known = ", ".join(settings.models) or "none: describe it below [models.NAME]"
                    raise self._error("model", key, f"[model] {key} names no model {name}; there are {known}")

    def _check_names(self, section: str, table: object, kind: type | None) -> None:
        if kind is None:
            raise self._error(section, "", _unknown_section(section, isinstance(table, dict)))
        if not isinstance(table, dict):
            raise self._error(section, "", f"{section} is a section: write [{section}] on a line, its keys below it")
        for key in table:
            if key not in get_type_hints(kind):
                raise self._error(section, key, _unknown_key(section, key, kind))

    def _checked(self, document: Mapping[str, Any], kind: type[Checked], within: str = "") -> Checked:
        from pydantic import TypeAdapter, ValidationError

        try:
            # Strict JSON makes objects of tables but texts of nothing; a list stands for what JSON has no type for.
            return TypeAdapter(kind).validate_json(
                json.dumps(document, default=lambda value: [str(value)]), strict=True
            )
        except ValidationError as error:
            first = error.errors()[0]
            section, key = [within, str(first["loc"][0])] if within else [str(part) for part in first["loc"][:2]]
            wanted = first["msg"].replace("Input should be", "should be")
            given = _shown(document[key] if within else document[section][key])
            raise self._error(section, key, f"[{section}] {key} {wanted}; it is {given}") from error

    def _error(self, section: str, key: str, sentence: str) -> ConfigError:
        line = line_of(self.text, section, key)
        place = f"{self.name}, line {line}" if line else self.name
        return ConfigError(f"{place}: {' '.join(sentence.split())}")


def read_settings(path: Path) -> Settings:
    """Return the settings of a file. Raises `ConfigError` when it cannot be read or anything in it is wrong."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"the configuration {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: it is not UTF-8 text (byte {error.start})") from error
    return SettingsText(str(path), text).parse()


def line_of(text: str, section: str, key: str) -> int:
    """Return the line, from 1, of a key in its section, or of the section if `key` is ""; 0 if written otherwise."""
    within = ""
    for number, line in enumerate(text.splitlines(), start=1):
        header = _HEADER.match(line)
        if header:
            within = header[1]
            if within == section and not key:
                return number
        elif within == (section if key else "") and re.match(rf"\s*\"?{re.escape(key or section)}\"?\s*=", line):
            return number
    return 0


def settings_of(section: type) -> Iterator[tuple[str, object, Meaning]]:
    """Yield name, default and meaning of a section's settings, in the file's order."""
    hints = get_type_hints(section, include_extras=True)
    for field in fields(section):
        meaning = next(part for part in hints[field.name].__metadata__ if isinstance(part, Meaning))
        yield field.name, field.default, meaning


def default_toml() -> str:
    """Return the default file, each value commented out, so that a better default reaches the file's owner later."""
    parts = [
        "# nakari's configuration. What is commented out is the default; `nakari config show` prints what is used."
    ]
    for name, kind in SECTIONS.items():
        parts += ["", f"[{name}]", _comment(kind.__doc__ or "")]
        for key, default, meaning in settings_of(kind):
            parts += ["", _comment(_described(meaning)), f"#{key} = {toml_value(default)}"]
    parts += [
        "",
        f"#[{CATALOG}.NAME]",
        _comment(f"{NamedModel.__doc__} Its keys are those of [model], `use` and `fallbacks` apart."),
    ]
    return "\n".join(parts) + "\n"


def show(settings: Settings) -> str:
    """Return what is used as TOML: each value with its meaning, and with the default where it differs."""
    parts = []
    for name, kind in SECTIONS.items():
        parts += ["", f"[{name}]", _comment(kind.__doc__ or "")]
        for key, default, meaning in settings_of(kind):
            value = getattr(getattr(settings, name), key)
            note = "" if value == default else f"  # default: {toml_value(default)}"
            parts += ["", _comment(_described(meaning)), f"{key} = {toml_value(value)}{note}"]
    for name, model in settings.models.items():
        told = [
            (key, getattr(model, key)) for key, default, _ in settings_of(NamedModel) if getattr(model, key) != default
        ]
        parts += ["", f"[{CATALOG}.{name}]", *(f"{key} = {toml_value(value)}" for key, value in told)]
    return "\n".join(parts[1:]) + "\n"


def toml_value(value: object) -> str:
    """Return a setting's value as TOML writes it; for texts that is JSON's way too, DEL apart."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, bool | str) else str(value)


def listed(value: str) -> tuple[str, ...]:
    """Return the parts of a setting that holds several, separated by commas."""
    return tuple(part.strip() for part in value.split(",") if part.strip())


def _described(meaning: Meaning) -> str:
    return f"{meaning.text} In {meaning.unit}." if meaning.unit else meaning.text


def _comment(text: str) -> str:
    return textwrap.fill(text, 110, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)


def _unknown_section(name: str, is_table: bool) -> str:
    if is_table:
        return f"there is no section [{name}]{_suggestion(name, SECTIONS, '[{}]')}"
    mend = _home_of(name) or _suggestion(name, SECTIONS, "[{}]")
    return f"{name} stands outside of any section{mend}"


def _unknown_key(section: str, key: str, kind: type) -> str:
    known = get_type_hints(kind)
    mend = _suggestion(key, known) or _home_of(key) or f"; its keys are {', '.join(known)}"
    return f"[{section}] has no key {key}{mend}"


def _suggestion(word: str, known: Iterable[str], form: str = "{}") -> str:
    close = get_close_matches(word.lower(), list(known), n=1)
    return f"; did you mean {form.format(close[0])}?" if close else ""


def _home_of(key: str) -> str:
    homes = [f"[{name}]" for name, kind in SECTIONS.items() if key in get_type_hints(kind)]
    return f"; it belongs below {' or '.join(homes)}" if homes else ""


def _shown(value: object) -> str:
    text = toml_value(value) if isinstance(value, bool | int | float | str) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:60]}…"


def _wrong_meaning(section: str, key: str, value: object) -> str:
    """Return what is wrong with a value of the right type, as the rest of the sentence; "" when nothing is."""
    if not isinstance(value, str) or not value:
        return ""
    if (section, key) in _SCHEMES:
        return _wrong_address(value, _SCHEMES[section, key])
    if key in ("api_key_env", "embedding_key_env") and not _ENVIRONMENT_NAME.match(value):
        return "should be the name of the variable that holds the key, such as OPENAI_API_KEY, not the key itself"
    if (section, key) == ("reflexes", "words") and (
        strange := next((w for w in listed(value) if w not in REFLEXES), "")
    ):
        return f"should name some of {', '.join(REFLEXES)}; {_shown(strange)} is none"
    return _wrong_time(key, value)


def _wrong_time(key: str, value: str) -> str:
    if key == "timezone" and not _is_zone(value):
        return f"should be a zone of this system's tzdata, such as Europe/Berlin; it is {_shown(value)}"
    if key == "quiet_hours":
        try:
            quiet_hours(value, UTC)
        except ValueError:
            return f'should be two times of day, such as "22:00-07:00"; it is {_shown(value)}'
    return ""


def _wrong_address(value: str, schemes: tuple[str, ...]) -> str:
    if not value.startswith(schemes):
        return f"should begin with {' or '.join(schemes)}; it is {_shown(value)}"
    try:
        address = urlsplit(value)
        host, _ = address.hostname, address.port
    except ValueError as error:
        return f"is no address ({error}); it is {_shown(value)}"
    if address.username is not None:
        return "should hold no user and no password; they have places of their own, and this file is no secret"
    return "" if host else f"names no host; it is {_shown(value)}"


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (OSError, ValueError, KeyError):  # not found is a KeyError, a path out of tzdata a ValueError
        return False
    return True
