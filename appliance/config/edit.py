"""One value of the configuration file changed: comments stay, and nothing wrong is ever written."""

import tomllib
from collections.abc import MutableMapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast

from appliance.config.file import SettingsText, default_toml, read_text
from appliance.errors import ConfigError
from memory.durable import PRIVATE, replace_durably


def with_value(text: str, name: str, key: str, value: str) -> str:
    """Return a configuration file's text with `section.key`, or `models.NAME.key`, set to what was typed.

    What reads as a number, true, false or "a text in quotes" is that, anything else is a text, or texts with commas
    between where only a list would be right. `name` is the file's, for people. Raises `ConfigError` with the sentence
    for what would be wrong, and for a file that is wrong already.
    """
    from tomlkit.exceptions import TOMLKitError

    *tables, last = key.split(".")
    if not tables or not all((*tables, last)):
        raise ConfigError(f"{key} names no setting; write section.key, such as voice.volume")
    SettingsText(name, text).parse()
    # A name of digits reads as a number, and what is in quotes lost them to the shell.
    parts = (part.strip() for part in value.removeprefix("[").removesuffix("]").split(","))
    as_list = [part for part in parts if part]
    wrong: list[ConfigError] = []
    for reading in (_typed(value), value, as_list):
        try:
            changed = _changed(text, tables, last, reading)
            SettingsText(name, changed, seen=text).parse()
        except (TOMLKitError, TypeError, AttributeError) as error:
            raise ConfigError(f"{key} cannot be set in {name}: {error}; change it by hand") from error
        except ConfigError as error:
            wrong.append(error)
        else:
            return changed
    raise wrong[0]


def _changed(text: str, tables: Sequence[str], last: str, value: object) -> str:
    """Return a TOML text with a value set; where its default stands there as a comment, right below that."""
    import tomlkit

    document = tomlkit.parse(text)
    table = cast("MutableMapping[str, object]", document)
    for part in tables:
        table = cast("MutableMapping[str, object]", table.setdefault(part, tomlkit.table()))
    is_new = last not in table
    table[last] = value
    at_end = tomlkit.dumps(document)
    if is_new and (place := _default_of(text.splitlines(), ".".join(tables), last)):
        lines = text.splitlines(keepends=True)
        beside = "".join((*lines[:place], tomlkit.dumps({last: value}), *lines[place:]))
        # At a section's end may stand another one's name as a comment, from which somebody takes the mark off.
        with suppress(tomllib.TOMLDecodeError):  # of a text of many lines what looks like a comment is none
            return beside if tomllib.loads(beside) == tomllib.loads(at_end) else at_end
    return at_end


def _default_of(lines: Sequence[str], section: str, key: str) -> int:
    """Return the place behind the line where a key of a section is commented out; 0 where none is."""
    heads = [place for place, line in enumerate(lines) if line.startswith("[")]
    begins = next((place for place in heads if lines[place].strip() == f"[{section}]"), len(lines))
    ends = next((place for place in heads if place > begins), len(lines))
    return next((place + 1 for place in range(begins, ends) if lines[place].startswith(f"#{key} = ")), 0)


def set_value(file: Path, key: str, value: str) -> None:
    """Change one value of a file, which is made from the default one where there is none; whole or not at all.

    Raises `ConfigError` as `with_value` does, OSError where the file cannot be written.
    """
    after = with_value(read_text(file, default_toml()), str(file), key, value)
    file.parent.mkdir(parents=True, exist_ok=True)
    target = file.resolve()  # a link stays one
    replace_durably(target, [after.encode()], target.stat().st_mode & 0o777 if target.exists() else PRIVATE)


def _typed(value: str) -> object:
    """Return what was typed as the TOML value that it reads as, or as a text."""
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return value
