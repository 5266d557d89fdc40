"""The table of what leaves the house, as the adapters declare it. Run it to write it anew into docs/privacy.md."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import get_args

from msgspec.structs import replace

from agent.intents.model import OfflineModel
from agent.model.chain import Chain
from agent.model.interface import ChatModel
from agent.model.litellm import LiteLlmModel
from agent.model.openai_compatible import OpenAiCompatibleModel
from appliance.config.agent.tools import CalendarSource, HomeSettings, McpServer, WeatherSettings, WebSettings
from appliance.config.load import Config, load
from appliance.config.network.http import WyomingSettings
from appliance.config.network.machines import MachineSettings
from appliance.config.sections import EarsSettings, Engine, MemorySettings, VoiceSettings
from appliance.config.sound import (
    OpenAiRecognizerSettings,
    OpenAiSpeechSettings,
    PiperSettings,
    SovitsSettings,
    WyomingRecognizerSettings,
    WyomingSpeechSettings,
)
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
    voices = {engine: of(speaking(quiet, engine)) for engine in engines()}
    usual = [engine for engine in voices if engine in VoiceSettings().engines and voices[engine]]
    elsewhere = [engine for engine in voices if engine not in usual and voices[engine]]
    here = f"`[voice] engines` with {either(engine for engine in voices if not voices[engine])} only"
    yield f"`[voice] engines` names {either(usual)} (the default)", voices[usual[0]], here
    yield f"`[voice] engines` names {either(elsewhere)}, and its server is not on this machine", voices["openai"], here
    heard = replace(
        quiet,
        ears=EarsSettings(download=False, engines=("openai", "wyoming")),
        openai_recognizer=OpenAiRecognizerSettings(),
        wyoming_recognizer=WyomingRecognizerSettings(url="tcp://HOST"),
    )
    yield (
        '`[ears] engines` names `"openai"` or `"wyoming"`, and its server is not on this machine',
        of(heard),
        '`[ears] engines = ["whisper"]` (the default); `send_names = false` for the names alone',
    )
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
    yield (
        "`[machines] url` names a server between several machines that is not this one",
        of(replace(quiet, machines=MachineSettings(url="tls://HOST"))),
        '`[machines] url = ""` (the default)',
    )
    wyoming = WyomingSettings("0.0.0.0:10300", ("192.168.1.0/24",))
    yield (
        "`[wyoming] listen` is an address that other machines reach, and `networks` names those",
        of(replace(quiet, wyoming=wyoming)),
        '`[wyoming] listen = ""` (the default), or an address of 127.0.0.1',
    )


def engines() -> list[str]:
    """Return what `[voice] engines` may name: by the configuration, and by the voices there are."""
    known = get_args(Engine)
    assert set(known) == set(ENGINES)
    return list(known)


def speaking(config: Config, engine: str) -> Config:
    """Return a configuration in which one voice speaks, which is elsewhere if it is a server."""
    return replace(
        config,
        voice=VoiceSettings(engines=(engine,)),  # type: ignore[arg-type]
        sovits=SovitsSettings(url="http://HOST"),
        wyoming_speech=WyomingSpeechSettings(url="tcp://HOST"),
        openai_speech=OpenAiSpeechSettings(url="https://HOST/v1"),
        piper=PiperSettings(models={"en": "/MODEL"}),
    )


def quiet_config() -> Config:
    """Return a configuration with which nothing leaves."""
    usual = load(environ={"HOME": "/nonexistent"})
    return replace(
        usual,
        voice=VoiceSettings(engines=("espeak",)),
        ears=EarsSettings(download=False),
        memory=MemorySettings(embeddings="off"),
    )


def of(config: Config, models: list[ChatModel] | None = None) -> list[Egress]:
    """Return what leaves with a configuration and these models, the offline one by default."""
    return egress(config, Chain.of([*(models or []), OfflineModel()]))


def either(values: Iterable[str]) -> str:
    """Return values of a setting, in Markdown."""
    return " or ".join(f'`"{value}"`' for value in values)


def in_page(page: str) -> str:
    """Return the table that the page has."""
    found = FENCES.search(page)
    assert found, "docs/privacy.md has no table between <!-- egress --> and <!-- /egress -->"
    return found[0]


if __name__ == "__main__":
    written = "".join(f"{line}\n" for line in table())
    PAGE.write_text(FENCES.sub(lambda _: written, PAGE.read_text(encoding="utf-8")), encoding="utf-8")
