"""One value of the configuration file changed: comments stay, and nothing wrong is ever written."""

import tomllib
from collections.abc import MutableMapping
from pathlib import Path
from typing import cast

from appliance.config.file import SettingsText, default_toml, read_text
from appliance.errors import ConfigError
from memory.durable import PRIVATE, replace_durably


def with_value(text: str, name: str, key: str, value: str) -> str:
    """Return a configuration file's text with `section.key`, or `models.NAME.key`, set to what was typed.

    What reads as a number, true, false or "a text in quotes" is that, anything else is a text. `name` is the file's,
    for people. Raises `ConfigError` with the sentence for what would be wrong, and for a file that is wrong already.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    *tables, last = key.split(".")
    if not tables or not all((*tables, last)):
        raise ConfigError(f"{key} names no setting; write section.key, such as voice.volume")
    SettingsText(name, text).parse()
    try:
        document = tomlkit.parse(text)
        table = cast("MutableMapping[str, object]", document)
        for part in tables:
            table = cast("MutableMapping[str, object]", table.setdefault(part, tomlkit.table()))
        table[last] = typed = _typed(value)
        changed = tomlkit.dumps(document)
        table[last] = value
        as_text = tomlkit.dumps(document)
    except (TOMLKitError, TypeError, AttributeError) as error:
        raise ConfigError(f"{key} cannot be set in {name}: {error}; change it by hand") from error
    try:
        SettingsText(name, changed, seen=text).parse()
    except ConfigError:
        if isinstance(typed, str) or not _is_right(name, as_text):
            raise
        return as_text  # a text that reads as a number, such as a name of digits
    return changed


def _is_right(name: str, text: str) -> bool:
    try:
        SettingsText(name, text).parse()
    except ConfigError:
        return False
    return True


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
