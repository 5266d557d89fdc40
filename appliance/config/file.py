"""The configuration file: TOML to settings, or one sentence about what is wrong with it; and settings back to TOML."""

import re
import textwrap
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, TypeVar, get_type_hints

from msgspec import Struct

from appliance.config.agent.models import NamedModel
from appliance.config.agent.tools import MOST_CHARACTERS, CalendarSource, McpServer, wrong_calendar, wrong_server
from appliance.config.meaning import settings_of, shown, toml_value
from appliance.config.network.http import wrong_http, wrong_wyoming
from appliance.config.network.machines import wrong_machines
from appliance.config.sections import Settings
from appliance.config.sound import wrong_engines, wrong_voices
from appliance.config.values import listed, wrong_meaning
from appliance.errors import ConfigError

CATALOGS: Mapping[str, type] = {"models": NamedModel, "mcp": McpServer, "calendar": CalendarSource}
"""The sections whose tables people name themselves, as [models.NAME], and what one of the tables is."""

SECTIONS: Mapping[str, type] = {name: kind for name, kind in get_type_hints(Settings).items() if name not in CATALOGS}
"""Section name to its class, in the file's order; the catalogs are none of them."""

LONGEST = 1_000_000
"""Characters that are read of a file: a device such as /dev/zero has no end."""

_HEADER = re.compile(r"^\s*\[\s*([\w.-]+)\s*\]")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*\Z")
OLD_ENGINES: Mapping[str, tuple[str, ...]] = {
    "auto": ("edge", "espeak"),
    "edge": ("edge", "espeak"),
    "espeak": ("espeak",),
}
"""What `[voice] engine` of older files means."""

RESERVED = ("configured", "offline")
"""What the model of [model] and the one that is always there are called."""

Checked = TypeVar("Checked", bound=Struct)


class WrongSetting(ConfigError):
    """One key or section is wrong; without it the rest may be right."""

    def __init__(self, sentence: str, section: str, key: str) -> None:
        """`key` is "" where the section as a whole is wrong."""
        super().__init__(sentence)
        self.place = (section, key)


_FIXES: Final[Mapping[str, str]] = {
    "Cannot overwrite a value": "this key stands there twice, keep one of them",
    "Cannot declare": "this section stands there twice, put its keys below one",
    "Invalid value": 'a text stands in straight quotes, as in name = "NAME"',
    "Expected '=' after a key": 'a line is a key, = and its value, as in name = "NAME"',
}
"""What mends a file, by how the parser's own words begin."""


class SettingsText(Struct, frozen=True):
    """The text of a configuration file; its errors name the place."""

    name: str
    """For people: the path."""
    text: str
    seen: str | None = None
    """What people see of it, where its lines are looked for; None: all."""

    def parse(self, without: Iterable[tuple[str, str]] = ()) -> Settings:
        """Return the settings, defaults where the file is silent. Raises `ConfigError` on the first thing wrong.

        `without` are the keys, each with its section, that are left out as if nobody had written them.
        """
        try:
            document = tomllib.loads(self.text)
        except (ValueError, RecursionError) as error:  # ValueError: also a number of thousands of digits
            fix = next((f"; {fix}" for words, fix in _FIXES.items() if str(error).startswith(words)), "")
            raise ConfigError(f"{self.name} is not valid TOML: {error}{fix}") from error
        for section, key in without:
            _leave_out(document, section, key)
        self._renew(document)
        tables = {name: document.pop(name, {}) for name in CATALOGS}
        for name, table in document.items():
            self._check_names(name, table, SECTIONS.get(name))
        found: dict[str, Any] = {name: self._read(name, table, SECTIONS[name]) for name, table in document.items()}
        found |= {name: self._catalog(name, kind, tables[name]) for name, kind in CATALOGS.items()}
        settings = Settings(**found)
        for section, keys in document.items():
            self._check_meanings(section, section, keys, getattr(settings, section))
        streaming, wyoming = settings.streaming_recognizer, settings.wyoming_recognizer
        unheard = wrong_engines(settings.ears.engines, wyoming, streaming)
        for section, (key, wrong) in (
            ("http", wrong_http(settings.http)),
            ("voice", wrong_voices(settings.voice.engines, settings.sovits, settings.piper)),
            ("ears", ("engines", unheard)),
            ("wyoming", wrong_wyoming(settings.wyoming)),
            ("machines", wrong_machines(settings.machines)),
        ):
            if wrong:
                raise self._error(section, key, f"[{section}] {key} {wrong}")
        self._check_aliases(settings)
        if settings.home.url and "home" in settings.mcp:
            raise self._error("mcp.home", "", "[mcp.home] has the name of [home]'s own tools: give it another one")
        return settings

    def parse_anyway(self, wrong: list[ConfigError]) -> Settings:
        """Return the settings, the default in the place of each key that is wrong, which is told to `wrong`."""
        without: list[tuple[str, str]] = []
        while True:
            try:
                return self.parse(without)
            except WrongSetting as error:
                wrong.append(error)
                if error.place in without or not any(error.place):  # nothing more can be left out
                    return Settings()
                without.append(error.place)
            except ConfigError as error:
                wrong.append(error)
                return Settings()

    def _renew(self, document: Mapping[str, Any]) -> None:
        """Put the list that it means in the place of `[voice] engine`, which older files have."""
        voice = document.get("voice")
        if not isinstance(voice, dict) or "engine" not in voice:
            return
        engine = voice.pop("engine")
        if "engines" in voice:
            wrong = "[voice] engine is the older name of engines, which is there too: take it out"
            raise self._error("voice", "engine", wrong)
        if not isinstance(engine, str) or engine not in OLD_ENGINES:
            wrong = f'[voice] engine is {shown(engine)}; write a list, such as engines = ["edge", "espeak"]'
            raise self._error("voice", "engine", wrong)
        voice["engines"] = list(OLD_ENGINES[engine])

    def _check_meanings(self, section: str, rules: str, keys: Iterable[str], values: object) -> None:
        for key in keys:
            if wrong := wrong_meaning(rules, key, getattr(values, key)):
                raise self._error(section, key, f"[{section}] {key} {wrong}")

    def _catalog(self, catalog: str, kind: type[Checked], tables: object) -> dict[str, Checked]:
        if not isinstance(tables, dict):
            raise self._error(
                catalog, "", f"{catalog} is a catalog: write [{catalog}.NAME] on a line, its keys below it"
            )
        found: dict[str, Checked] = {}
        for name, table in tables.items():
            section = f"{catalog}.{name}"
            self._check_names(section, table, kind)
            if wrong := _wrong_name(name, kind):
                raise self._error(section, "", f"[{section}] {wrong}")
            found[name] = self._read(section, table, kind)
            self._check_meanings(section, "model" if kind is NamedModel else catalog, table, found[name])
            key, wrong = _wrong_table(found[name])
            if wrong:
                raise self._error(section, key, f"[{section}] {key} {wrong}".replace("  ", " "))
        return found

    def _check_aliases(self, settings: Settings) -> None:
        """Every name of a model that is used is one of the catalog's."""
        for key in ("use", "fallbacks"):
            for name in listed(getattr(settings.model, key)):
                if name not in settings.models:
                    known = ", ".join(settings.models) or "none: describe it below [models.NAME]"
                    raise self._error("model", key, f"[model] {key} names no model {shown(name)}; there are {known}")

    def _check_names(self, section: str, table: object, kind: type | None) -> None:
        if kind is None:
            raise self._error(section, "", _unknown_section(section, isinstance(table, dict)))
        if not isinstance(table, dict):
            raise self._error(section, "", f"{section} is a section: write [{section}] on a line, its keys below it")
        known = get_type_hints(kind)
        for key in table:
            if key not in known:
                raise self._error(section, key, _unknown_key(section, key, kind))

    def _read(self, section: str, table: Mapping[str, object], kind: type[Checked]) -> Checked:
        kinds = get_type_hints(kind)
        values: dict[str, object] = {}
        for key, _, meaning in settings_of(kind):
            if key in table:
                try:
                    values[key] = meaning.read(table[key], kinds[key])
                except ValueError as error:
                    raise self._error(section, key, f"[{section}] {key} {error}") from error
        return kind(**values)

    def _error(self, section: str, key: str, sentence: str) -> WrongSetting:
        line = line_of(self.text if self.seen is None else self.seen, section, key)
        place = f"{self.name}, line {line}" if line else self.name
        return WrongSetting(f"{place}: {' '.join(sentence.split())}", section, key)


def _wrong_name(name: str, kind: type) -> str:
    """Return what is wrong with the name of a catalog's table, "" for nothing."""
    if not _NAME.match(name):
        return "should have a name of small letters, digits and -"
    if kind is NamedModel:
        return "has a name that nakari itself uses: give it another one" if name in RESERVED else ""
    return "" if len(name) <= MOST_CHARACTERS else f"should have a name of at most {MOST_CHARACTERS} characters"


def _wrong_table(table: object) -> tuple[str, str]:
    """Return the key at which a catalog's table is wrong as a whole, and what is wrong; else two ""."""
    if isinstance(table, McpServer):
        return wrong_server(table)
    return wrong_calendar(table) if isinstance(table, CalendarSource) else ("", "")


def _leave_out(document: dict[str, Any], section: str, key: str) -> None:
    catalog, _, name = section.partition(".")
    tables = document.get(catalog) if catalog in CATALOGS and name else document
    if isinstance(tables, dict):
        own = name if tables is not document else section
        if not key:
            tables.pop(own, None)
        elif isinstance(table := tables.get(own), dict):
            table.pop(key, None)


def read_settings(path: Path, wrong: list[ConfigError] | None = None) -> Settings:
    """Return the settings of a file. Raises `ConfigError` when it cannot be read or anything in it is wrong.

    With `wrong`, each wrong key is told there, and its default is taken.
    """
    document = SettingsText(str(path), read_text(path))
    return document.parse() if wrong is None else document.parse_anyway(wrong)


def read_text(path: Path, absent: str | None = None) -> str:
    """Return what stands in a configuration file, `absent` for one that is not there.

    Raises `ConfigError` when it cannot be read; one that is not there cannot, where `absent` is None.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(LONGEST)
    except OSError as error:
        if absent is not None and isinstance(error, FileNotFoundError):
            return absent
        raise ConfigError(f"the configuration {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: it is not UTF-8 text (byte {error.start})") from error
    if len(text) == LONGEST:
        raise ConfigError(f"{path} is no configuration: it does not end within {LONGEST} characters; name another file")
    return text


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


def default_toml() -> str:
    """Return the default file, each value commented out, so that a better default reaches the file's owner later."""
    parts = [
        "# nakari's configuration. What is commented out is the default; `nakari config show` prints what is used."
    ]
    for name, kind in SECTIONS.items():
        parts += ["", f"[{name}]", _comment(kind.__doc__ or "")]
        for key, default, meaning in settings_of(kind):
            parts += ["", _comment(str(meaning)), f"#{key} = {toml_value(default)}"]
    models = f"{NamedModel.__doc__} Its keys are those of [model], `use`, `fallbacks` and `first_token_deadline` apart."
    parts += ["", "#[models.NAME]", _comment(models)]
    for catalog, kind in CATALOGS.items():
        if kind is not NamedModel:
            parts += ["", f"#[{catalog}.NAME]", _comment(kind.__doc__ or "")]
            parts += [_comment(f"{key}: {meaning}") for key, _, meaning in settings_of(kind)]
    return "\n".join(parts) + "\n"


def show(settings: Settings) -> str:
    """Return what is used as TOML: each value with its meaning, and with the default where it differs."""
    parts = []
    for name, kind in SECTIONS.items():
        parts += ["", f"[{name}]", _comment(kind.__doc__ or "")]
        for key, default, meaning in settings_of(kind):
            value = getattr(getattr(settings, name), key)
            note = "" if value == default else f"  # default: {toml_value(default)}"
            parts += ["", _comment(str(meaning)), f"{key} = {toml_value(value)}{note}"]
    for catalog, kind in CATALOGS.items():
        for name, table in getattr(settings, catalog).items():
            used = [(key, getattr(table, key), default) for key, default, _ in settings_of(kind)]
            told = [f"{key} = {toml_value(value)}" for key, value, default in used if value != default]
            parts += ["", f"[{catalog}.{name}]", *told]
    return "\n".join(parts[1:]) + "\n"


def _comment(text: str) -> str:
    return textwrap.fill(
        " ".join(text.split()), 110, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False
    )


def _unknown_section(name: str, is_table: bool) -> str:
    if is_table:
        return f"there is no section [{name}]{_suggestion(name, SECTIONS, '[{}]')}"
    fix = _home_of(name) or _suggestion(name, SECTIONS, "[{}]")
    return f"{name} stands outside of any section{fix}"


def _unknown_key(section: str, key: str, kind: type) -> str:
    known = get_type_hints(kind)
    word = "name" if key == section else key  # [model] model: its name
    fix = _suggestion(word, known) or _home_of(key) or f"; its keys are {', '.join(known)}"
    return f"[{section}] has no key {key}{fix}"


def _suggestion(word: str, known: Iterable[str], form: str = "{}") -> str:
    names = list(known)
    holding = [name for name in names if word.lower() in name.split("_")]
    close = get_close_matches(word.lower(), names, n=1) or holding[:1]
    return f"; did you mean {form.format(close[0])}?" if close else ""


def _home_of(key: str) -> str:
    homes = [f"[{name}]" for name, kind in SECTIONS.items() if key in get_type_hints(kind)]
    return f"; it belongs below {' or '.join(homes)}" if homes else ""
