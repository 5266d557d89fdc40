"""The page of all configuration keys, made from the sections themselves. Run it to write docs/configuration.md anew."""

from collections.abc import Iterator
from inspect import cleandoc
from typing import Any, Literal, get_args, get_origin, get_type_hints

from msgspec.structs import fields

from appliance.config.agent.models import ModelSettings, NamedModel
from appliance.config.file import CATALOGS, SECTIONS
from appliance.config.meaning import Meaning, settings_of, toml_value
from tests.architecture.source import ROOT

PAGE = ROOT / "docs" / "configuration.md"

HEAD = """\
# Configuration

One file, in TOML. Each key has a default that works, so that the file may be absent, and holds only what you want
otherwise.

| whose | where |
|---|---|
| the service | `/etc/nakari/nakari.toml` |
| yours | `$XDG_CONFIG_HOME/nakari/nakari.toml`, else `~/.config/nakari/nakari.toml` |
| another one | `nakari --config FILE status`, or the environment variable `NAKARI_CONFIG` |

The one that is named counts, else yours, else the service's; only one is read. A commented file to start from:

```sh
mkdir -p ~/.config/nakari && nakari config default > ~/.config/nakari/nakari.toml
```

For the service:

```sh
sudo mkdir -p /etc/nakari
sudo nakari config default | sudo tee /etc/nakari/nakari.toml >/dev/null
sudo systemctl restart nakari
```

`nakari config show` prints every value that is used, with its meaning, `nakari config path` where the file is, and
`nakari config check` says whether it is right: a wrong key or value is one sentence that names file, line and key,
mostly with a suggestion, and exit code 78. `nakari config set voice.volume 60` changes one value and leaves the
comments. `sudo systemctl reload nakari`, or `nakari config reload`, has a running service take over `[log]`,
`voice.volume`, `announcements.per_day` and `announcements.urgent_wait`; all else holds from the next start on, which it
tells. Nothing else in nakari reads the environment.

## Keys and passwords

Secrets stand in the environment or in systemd credentials, never in the file: `OPENAI_API_KEY`, `ANTHROPIC_API_KEY`,
`GEMINI_API_KEY`, `DEEPSEEK_API_KEY`, `OPENROUTER_API_KEY`, the names that you give in `api_key_env`,
`embedding_key_env` and `secrets`, `NAKARI_NEO4J_PASSWORD` and `HOME_ASSISTANT_TOKEN`. For the service,
`sudo systemctl edit nakari`, with:

```ini
[Service]
LoadCredential=OPENAI_API_KEY:/path/to/a/file
```
"""


def lines() -> Iterator[str]:
    """Yield the page below its head: a table for each section, in the file's order, then the tables people name."""
    for name, section in SECTIONS.items():
        yield from _table(f"[{name}]", cleandoc(section.__doc__ or ""), section)
    for name, table in CATALOGS.items():
        yield from _table(f"[{name}.NAME]", cleandoc(table.__doc__ or ""), table if table is not NamedModel else None)


def _table(header: str, about: str, section: type | None) -> Iterator[str]:
    yield from ("", f"## `{header}`", "", about)
    if section is None:
        shared = {each.name for each in fields(NamedModel)}
        only = [each.name for each in fields(ModelSettings) if each.name not in shared]
        yield f"Its keys are those of `[model]`, {' and '.join(f'`{name}`' for name in only)} apart."
        return
    yield from ("", "| key | default | meaning |", "|---|---|---|")
    hints = get_type_hints(section)
    for key, default, meaning in settings_of(section):
        told = " ".join(filter(None, (meaning.text, _may_be(hints[key], meaning))))
        yield f"| `{key}` | `{toml_value(default)}` | {told.replace('|', chr(92) + '|')} |"


def _may_be(kind: Any, meaning: Meaning) -> str:
    """Return which values a setting takes, as a sentence; "" where its type says it all."""
    if get_origin(kind) is Literal:
        return f"One of {', '.join(f'`{toml_value(each)}`' for each in get_args(kind))}."
    if meaning.between is None:
        return f"In {meaning.unit}." if meaning.unit else ""
    low, high = meaning.between
    return f"From {low} to {high} {meaning.unit}".rstrip() + "."


def page() -> str:
    """Return the whole page."""
    return HEAD + "\n".join(lines()) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
