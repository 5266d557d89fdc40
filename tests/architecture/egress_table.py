"""The table of what leaves the house, as the adapters declare it. Run it to write it anew into docs/privacy.md."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args, get_type_hints

from agent.intents import OfflineModel
from agent.model.chain import Chain
from agent.model.interface import ChatModel
from agent.model.litellm import LiteLlmModel
from agent.model.openai_compatible import OpenAiCompatibleModel
from appliance.config.calendar import CalendarSource
from appliance.config.home import HomeSettings
from appliance.config.load import Config, load
from appliance.config.mcp import McpServer
from appliance.config.sections import EarsSettings, MemorySettings, VoiceSettings
from appliance.config.web import WeatherSettings, WebSettings
from appliance.egress import Egress, egress
from appliance.output.voices import ENGINES

PAGE = Path(__file__).parents[2] / "docs" / "privacy.md"
FENCES = re.compile(r"(?<=<!-- egress -->\n).*?(?=<!-- /egress -->)", re.DOTALL)
HEAD = ("when", "what leaves this machine", "how to stop it")


def table() -> Iterator[str]:
    """Yield the lines of the table, in Markdown."""
    yield f"| {' | '.join(HEAD)} |"
    yield f"|{'---|' * len(HEAD)}"
    for when, leaving, stop in rows():
        receivers: dict[str, list[str]] = {}
        for each in leaving:
            receivers.setdefault(each.what, []).append(each.to)
        what = "; ".join(f"{what}, to {' or '.join(to)}" for what, to in receivers.items())
        yield f"| {when} | {what} | {stop} |"


def rows() -> Iterator[tuple[str, list[Egress], str]]:
    """Yield for each place of the configuration when something leaves, what that is, and what stops it."""
    quiet = quiet_config()
    voices = {name: of(replace(quiet, voice=VoiceSettings(engine=name))) for name in engines()}  # type: ignore[arg-type]
    usual = VoiceSettings().engine
    away, here = [name for name in voices if voices[name]], [name for name in voices if not voices[name]]
    yield one_of("[voice] engine", away, usual), voices[away[0]], one_of("[voice] engine", here, usual)
    models: list[ChatModel] = [LiteLlmModel("NAME/MODEL"), OpenAiCompatibleModel("http://HOST/v1", "MODEL")]
    yield (
        "a model elsewhere is configured in `[model]`, or in `[models.NAME]` and named by `use` or `fallbacks`, or the "
        "key of a provider is in the environment and no model server answers on this machine",
        of(quiet, models),
        '`[model] provider = "offline"`, or a model server on this machine',
    )
    yield (
        "`[ears] download = true` (the default), and a model that listens or compares is not here yet",
        of(replace(quiet, ears=EarsSettings(), memory=MemorySettings())),
        "`[ears] download = false`",
    )
    yield (
        "`[memory] uri` names a server that is not on this machine",
        of(replace(quiet, memory=MemorySettings(uri="neo4j://HOST", embeddings="off"))),
        '`[memory] uri = ""` (the default), the store that comes with the box',
    )
    api = MemorySettings(embeddings="api", embedding_model="MODEL", embedding_url="http://HOST/v1")
    yield (
        '`[memory] embeddings = "api"`, and its server is not on this machine',
        of(replace(quiet, memory=api)),
        '`[memory] embeddings = "auto"` (the default), which makes them here, or `"off"`',
    )
    servers = {"NAME": McpServer(url="https://HOST/mcp"), "OTHER": McpServer(command=("PROGRAM",))}
    yield "`[mcp.NAME]` is configured", of(replace(quiet, mcp=servers)), "leave the section out"
    for name in ("wikipedia", "searxng", "brave", "tavily"):
        web = WebSettings(search=name, searxng_url="http://HOST")
        yield f'`[web] search = "{name}"`', of(replace(quiet, web=web)), '`[web] search = ""` (the default)'
    pages = WebSettings(read_pages=True)
    yield "`[web] read_pages = true`", of(replace(quiet, web=pages)), "`[web] read_pages = false` (the default)"
    weather = WeatherSettings(enabled=True)
    yield "`[weather] enabled = true`", of(replace(quiet, weather=weather)), "`[weather] enabled = false` (the default)"
    account = CalendarSource(url="https://HOST", user="USER", password_env="PASSWORD")
    calendars = {"NAME": account, "OTHER": CalendarSource(url="https://HOST/calendar.ics")}
    yield (
        "`[calendar.NAME]` is configured, with an address that is not on this machine",
        of(replace(quiet, calendar=calendars)),
        "leave the section out, or name a `file`",
    )
    home = HomeSettings(url="https://HOST")
    yield (
        "`[home] url` names a Home Assistant that is not on this machine",
        of(replace(quiet, home=home)),
        '`[home] url = ""` (the default)',
    )


def engines() -> list[str]:
    """Return what `[voice] engine` may be: by the configuration, and by the voices there are."""
    known = get_args(get_args(get_type_hints(VoiceSettings, include_extras=True)["engine"])[0])
    assert set(known) == set(ENGINES)
    return list(known)


def quiet_config() -> Config:
    """Return a configuration with which nothing leaves."""
    usual = load(environ={"HOME": "/nonexistent"})
    return replace(
        usual,
        voice=VoiceSettings(engine="espeak"),
        ears=EarsSettings(download=False),
        memory=MemorySettings(embeddings="off"),
    )


def of(config: Config, models: list[ChatModel] | None = None) -> list[Egress]:
    """Return what leaves with a configuration and these models, the offline one by default."""
    return egress(config, Chain.of([*(models or []), OfflineModel()]))


def one_of(setting: str, values: list[str], default: str) -> str:
    """Return a setting with the values that it may have, in Markdown."""
    told = [f'`"{value}"`{" (the default)" if value == default else ""}' for value in values]
    return f"`{setting}` = {' or '.join(told)}"


def in_page(page: str) -> str:
    """Return the table that the page has."""
    found = FENCES.search(page)
    assert found, "docs/privacy.md has no table between <!-- egress --> and <!-- /egress -->"
    return found[0]


if __name__ == "__main__":
    written = "".join(f"{line}\n" for line in table())
    PAGE.write_text(FENCES.sub(lambda _: written, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
