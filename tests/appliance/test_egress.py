"""What would leave this machine is told before it does, by the setting that stops it."""

import asyncio
import importlib
import inspect
import pkgutil
import re
from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest
from msgspec.structs import replace

from agent.bus import Bus
from agent.intents.model import OfflineModel
from agent.model.chain import Chain
from agent.model.litellm import LiteLlmModel
from agent.model.openai_compatible import OpenAiCompatibleModel
from agent.record import Recorder
from appliance.cli.look_after.status import in_words
from appliance.config.agent.models import ModelSettings, NamedModel
from appliance.config.agent.tools import McpServer, WeatherSettings, WebSettings
from appliance.config.file import SECTIONS
from appliance.config.load import Config, Secret, load
from appliance.config.meaning import settings_of
from appliance.config.network.http import WyomingSettings
from appliance.config.network.machines import MachineSettings
from appliance.config.options import RunOptions
from appliance.config.sections import EarsSettings, MemorySettings, VoiceSettings
from appliance.doctor import machine as checks_machine
from appliance.doctor.examine import Line, Verdict
from appliance.doctor.memory import chosen_model
from appliance.egress import egress
from appliance.model.catalog import catalog_of
from appliance.model.choose import choose_models
from appliance.model.sentence import NAME, NETWORK
from appliance.model.switch import ModelChoice
from appliance.output.voices import ENGINES, SpeechSettings
from appliance.wiring.agent.agent import about
from appliance.wiring.box import open_box
from audio.egress import SendsTo
from audio.interfaces import Synthesizer
from audio.speech import SpeechAudio
from memory.errors import StateUnusable
from memory.state import journal as journal_module
from memory.state.database import Database
from memory.state.journal import Journal
from tests.architecture import egress_table
from tests.memory.onnx_model import write_model

Engines: TypeAlias = dict[str, Callable[[SpeechSettings, float], Synthesizer]]

SILENT = VoiceSettings(engines=("espeak",))
DEAF = EarsSettings(download=False)


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return load(environ={"HOME": str(tmp_path)})


def quiet(config: Config) -> Config:
    """Return a configuration that stays within this machine."""
    return replace(config, voice=SILENT, ears=DEAF)


MICROSOFT = "Microsoft's read-aloud service"
EDGE = f"what nakari says, to {MICROSOFT} ([voice] engines)"
INPUT = "what people say, write and attach, with the context it stands in, to"
PROVIDER = f"{INPUT} the provider a ([model])"
OPENAI = f"{INPUT} api.openai.com ([model])"
FETCH = "the request for the faster-whisper model base, once, to the Hugging Face hub ([ears] download)"
FETCH_SMALL = FETCH.replace("base", "small")
SENTENCES = f"the request for the sentence model {NAME}, once, to the Hugging Face hub ([ears] download)"
LARGE = f"{INPUT} the provider anthropic ([models.large])"
LAN = f"{INPUT} 10.0.0.5 ([models.lan])"
CATALOG = {
    "large": NamedModel("litellm", "anthropic/x"),
    "near": NamedModel("openai", "m", "http://localhost:11434/v1"),
    "lan": NamedModel("openai", "m", "http://10.0.0.5/v1"),
}
MAIL = "what the tools of mail are given, to mail.example ([mcp.mail])"
SEARCHED = "what the agent searches the web for, to"
PAGES = (
    "the addresses of pages that the agent reads, and this house's, to the servers of those pages ([web] read_pages)"
)
WEATHER = [
    "where the house is and other places whose weather is asked for, to api.open-meteo.com ([weather] enabled)",
    "names of those places, to geocoding-api.open-meteo.com ([weather] enabled)",
]
WYOMING = (
    "the agent's answers, and what is recognized and said for them, to whoever asks by Wyoming, to 192.168.1.5/32 "
    "([wyoming] networks)"
)
KEY = {"OPENAI_API_KEY": Secret("k")}


def embedding_at(url: str, *, enabled: bool = True) -> MemorySettings:
    return MemorySettings(enabled, embeddings="api", embedding_model="m", embedding_url=url)


@pytest.mark.shows("G4", "X2")
@pytest.mark.parametrize(
    ("change", "used"),
    [
        (lambda c: c, []),
        (lambda c: replace(c, voice=VoiceSettings()), [EDGE]),
        (lambda c: replace(c, wyoming=WyomingSettings("127.0.0.1:10300", ("127.0.0.0/8",))), []),
        (lambda c: replace(c, wyoming=WyomingSettings("0.0.0.0:10300", ("127.0.0.1", "192.168.1.5"))), [WYOMING]),
        (lambda c: replace(c, voice=VoiceSettings(edge_url="ws://127.0.0.1:9/x")), []),
        (
            lambda c: replace(c, voice=VoiceSettings(edge_url="wss://voice.example")),
            [EDGE.replace(MICROSOFT, "voice.example")],
        ),
        (lambda c: replace(c, ears=EarsSettings()), [FETCH, SENTENCES]),
        (lambda c: replace(c, ears=EarsSettings(), memory=MemorySettings(embeddings="off")), [FETCH]),
        (lambda c: replace(c, ears=EarsSettings(model="small")), [FETCH_SMALL, SENTENCES]),
        (lambda c: replace(c, ears=EarsSettings(model="no-such-name")), [SENTENCES]),
        (lambda c: replace(c, ears=EarsSettings(model="/opt/whisper")), [SENTENCES]),
        (lambda c: replace(c, model=ModelSettings("openai", "m", "http://localhost:11434/v1"), secrets=KEY), []),
        (lambda c: replace(c, model=ModelSettings("openai", "m", "http://[::1]:8080/v1")), []),
        (
            lambda c: replace(c, model=ModelSettings("openai", "m", "http://192.168.1.5/v1")),
            [f"{INPUT} 192.168.1.5 ([model])"],
        ),
        (lambda c: replace(c, model=ModelSettings("litellm", "a/b")), [PROVIDER]),
        (lambda c: replace(c, models=CATALOG), []),
        (lambda c: replace(c, models=CATALOG, model=ModelSettings("offline", use="large")), [LARGE]),
        (
            lambda c: replace(c, models=CATALOG, model=ModelSettings("offline", use="near", fallbacks="near, lan")),
            [LAN],
        ),
        (lambda c: replace(c, mcp={"clock": McpServer(url="http://127.0.0.1:8000/mcp")}), []),
        (lambda c: replace(c, mcp={"mail": McpServer(url="https://mail.example/mcp")}), [MAIL]),
        (lambda c: replace(c, web=WebSettings("wikipedia")), [f"{SEARCHED} Wikipedia ([web] search)"]),
        (lambda c: replace(c, web=WebSettings("brave")), [f"{SEARCHED} api.search.brave.com ([web] search)"]),
        (lambda c: replace(c, web=WebSettings("tavily")), [f"{SEARCHED} api.tavily.com ([web] search)"]),
        (lambda c: replace(c, web=WebSettings("searxng")), []),
        (
            lambda c: replace(c, web=WebSettings("searxng", "http://127.0.0.1:8080")),
            [f"{SEARCHED} SearXNG at 127.0.0.1:8080, which asks the engines chosen there ([web] search)"],
        ),
        (lambda c: replace(c, web=WebSettings(read_pages=True)), [PAGES]),
        (lambda c: replace(c, weather=WeatherSettings(enabled=True)), WEATHER),
        (lambda c: replace(c, weather=WeatherSettings(place="Heidelberg")), []),
        (
            lambda c: replace(c, weather=WeatherSettings(True, url="http://[::1]:1", places_url="http://127.0.0.1")),
            [],
        ),
        (lambda c: replace(c, secrets=KEY), [OPENAI]),
        (lambda c: replace(c, model=ModelSettings("offline"), secrets=KEY), []),
        (lambda c: replace(c, memory=MemorySettings(uri="bolt://localhost:7687")), []),
        (
            lambda c: replace(c, memory=MemorySettings(uri="neo4j://graph.lan")),
            ["the graph, which is all that is remembered, to graph.lan ([memory] uri)"],
        ),
        (lambda c: replace(c, memory=MemorySettings(uri="neo4j://graph.lan", enabled=False)), []),
        (lambda c: replace(c, memory=embedding_at("http://127.0.0.1:11434/v1")), []),
        (
            lambda c: replace(c, memory=embedding_at("https://vectors.example/v1")),
            ["texts that are compared by meaning, to vectors.example ([memory] embeddings)"],
        ),
        (lambda c: replace(c, memory=embedding_at("https://vectors.example/v1", enabled=False)), []),
    ],
)
async def test_what_leaves_the_house_is_told(
    config: Config, change: Callable[[Config], Config], used: list[str]
) -> None:
    assert await told(change(quiet(config))) == used


async def told(config: Config) -> list[str]:
    """Return what leaves, as the doctor tells it, with the models that this configuration chooses."""
    models = await choose_models(catalog_of(config))
    leaving = [str(each) for each in egress(config, models)]
    for model in models.models:
        await model.aclose()
    return leaving


@pytest.mark.shows("F3", "G4", "H5", "X2")
async def test_a_model_that_was_chosen_while_it_ran_is_counted_too(config: Config) -> None:
    offline = replace(quiet(config), models=CATALOG, model=ModelSettings("offline", fallbacks="lan"))
    config.state_folder.mkdir(parents=True)
    database = Database(config.state_folder / "nakari.db")
    await database.open()
    assert await asyncio.to_thread(chosen_model, config.state_folder) == "", "no journal yet"
    await database.close()
    await database.open(journal_module.SCHEMA)
    chain = await choose_models(catalog_of(offline))
    choice = ModelChoice(chain, Journal(database), Bus(Recorder(Journal(database))), UTC)
    large = LARGE.replace("large])", "large], chosen with `nakari model use`)")
    expected = {"large": [large, LAN], "near": [LAN], "lan": [LAN]}
    for alias, used in expected.items():
        await choice.use(alias)
        line = await asyncio.to_thread(checks_machine.privacy, offline)
        assert line.what == f"leaves this machine: {'; '.join(used)}"
    await choice.use("offline")  # it never fails: nobody is asked in its place
    assert (await asyncio.to_thread(checks_machine.privacy, offline)).what == "nothing leaves this machine"
    await choice.use("large")
    alone = replace(offline, model=ModelSettings("offline"))
    assert (await asyncio.to_thread(checks_machine.network, alone)).what != "not needed"
    assert (await asyncio.to_thread(checks_machine.privacy, replace(alone, models={}))).what.startswith("nothing")
    await database.close()
    for model in chain.models:
        await model.aclose()


@pytest.mark.parametrize("url", ["tls://study.home:4222", "rediss://study.home:6379"])
def test_the_doctor_tells_what_goes_between_machines_without_asking_any(config: Config, url: str) -> None:
    several = replace(quiet(config), machines=MachineSettings(url=url))
    told = checks_machine.privacy(several)
    assert told.verdict == Verdict.OK
    assert re.search(r"to the household's other machines, to study.home:\d+ \(\[machines\] url\)$", told.what)
    assert "study.home" in checks_machine.network(several).what


def test_where_the_choice_cannot_be_read_nothing_is_promised(config: Config) -> None:
    config.state_folder.mkdir(parents=True)
    (config.state_folder / "nakari.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(StateUnusable, match="nobody can tell which model was chosen"):
        checks_machine.privacy(quiet(config))


def test_a_model_server_found_here_comes_before_a_provider(config: Config) -> None:
    keyed = replace(quiet(config), secrets=KEY)
    here = OpenAiCompatibleModel("http://127.0.0.1:11434/v1", "qwen3:4b")
    assert egress(keyed, Chain.of([here, OfflineModel()])) == []


@pytest.mark.shows("G4", "X2")
def test_who_stands_in_is_told_even_while_it_rests(config: Config) -> None:
    models = Chain.of([OpenAiCompatibleModel("http://127.0.0.1:1/v1", "m"), LiteLlmModel("a/b"), OfflineModel()])
    for model in models.models:
        model.breaker.failed(60.0)
    assert [each.to for each in egress(quiet(config), models)] == ["the provider a"]


@pytest.mark.shows("V4", "G4", "X2")
async def test_a_model_that_is_here_is_not_fetched(config: Config) -> None:
    hearing = replace(quiet(config), ears=EarsSettings())
    folder = config.state_folder / "models" / "base"
    folder.mkdir(parents=True)
    for name in ("config.json", "model.bin", "tokenizer.json", "preprocessor_config.json", "vocabulary.json"):
        (folder / name).touch()
    assert await told(hearing) == [SENTENCES]
    write_model(config.state_folder / "models" / NAME, place=NETWORK.rpartition("/")[2])
    assert await told(hearing) == []


@pytest.mark.shows("G4", "H5", "X2")
def test_the_privacy_line_lists_all_or_says_nothing(config: Config) -> None:
    assert checks_machine.privacy(quiet(config)) == Line("privacy", Verdict.OK, "nothing leaves this machine")
    line = checks_machine.privacy(config)
    assert line == Line("privacy", Verdict.OK, f"leaves this machine: {EDGE}; {FETCH}; {SENTENCES}")


@pytest.mark.shows("B13", "H5", "X2")
def test_what_a_program_of_others_sends_on_only_it_knows(config: Config) -> None:
    lent = replace(quiet(config), mcp={"clock": McpServer(command=("uvx", "mcp-server-time"))})
    clock = "what the tools of clock are given, to whoever clock sends it on to, a program of others ([mcp.clock])"
    assert checks_machine.privacy(lent).what == f"leaves this machine: {clock}"
    assert checks_machine.network(lent).what == "not needed"


def test_a_quiet_configuration_needs_no_network(config: Config) -> None:
    assert checks_machine.network(quiet(config)) == Line("network", Verdict.OK, "not needed")


def test_the_way_out_is_only_looked_for_and_what_was_checked_is_said(config: Config) -> None:
    line = checks_machine.network(config)
    wanted = f"wanted for {MICROSOFT}, the Hugging Face hub"
    assert (line.verdict, line.what) in [
        (
            Verdict.OK,
            "there is a way out (the kernel's routing table has a default route; no server was asked), " + wanted,
        ),
        (Verdict.WARNING, "no way out: the kernel's routing table has no default route, " + wanted),
    ]


@dataclass
class Telephone(Synthesizer):
    """A voice that nobody else knows: it declares what it sends, and has its line among the engines."""

    name: str = "telephone"
    host: str = "exchange.example:5060"

    def __post_init__(self) -> None:
        self.sends_to = (SendsTo("each sentence, read aloud", self.host),)

    async def speak(self, sentence: str, language: str) -> AsyncGenerator[SpeechAudio, None]:
        yield SpeechAudio(np.zeros(1, np.int16), 16_000)


@pytest.mark.shows("G4", "H5", "X2")
def test_a_new_voice_that_calls_out_is_told_without_another_line(config: Config, engines: Engines) -> None:
    engines["telephone"] = lambda settings, stall: Telephone()
    calling = replace(quiet(config), voice=VoiceSettings(engines=("telephone", "espeak")))  # type: ignore[arg-type]
    leaving = "each sentence, read aloud, to exchange.example:5060 ([voice] engines)"
    assert checks_machine.privacy(calling).what == f"leaves this machine: {leaving}"
    assert "exchange.example:5060" in checks_machine.network(calling).what
    prompt = about(calling, Chain.of([OfflineModel()]))().text([])
    assert "each sentence, read aloud, to exchange.example:5060" in prompt
    assert "telephone over the network (exchange.example:5060), or when it does not answer espeak-ng" in prompt


@pytest.mark.shows("G4", "H5", "X2")
async def test_a_new_voice_that_calls_out_is_in_the_status(config: Config, engines: Engines, tmp_path: Path) -> None:
    engines["telephone"] = lambda settings, stall: Telephone()
    calling = replace(quiet(config), voice=VoiceSettings(engines=("telephone", "espeak")))  # type: ignore[arg-type]
    async with open_box(calling, RunOptions(deaf=True, output=tmp_path / "said.wav")) as box:
        status = await box.household.status()
    leaving = "each sentence, read aloud, to exchange.example:5060 ([voice] engines)"
    assert status["egress"] == {"leaves": [leaving]}
    assert leaving in " ".join(text for _, text in in_words(status))


@pytest.mark.shows("G4", "X2")
def test_a_new_voice_on_this_machine_is_nobody_s_business(config: Config, engines: Engines) -> None:
    engines["piper"] = lambda settings, stall: Telephone("piper", "localhost:10200")
    local = replace(quiet(config), voice=VoiceSettings(engines=("piper",)))
    assert checks_machine.privacy(local).what == "nothing leaves this machine"
    assert about(local, Chain.of([OfflineModel()]))().voice == "piper on this machine"


@pytest.fixture
def engines() -> Iterator[Engines]:
    """The table of voices, put back afterwards."""
    kept = dict(ENGINES)
    yield ENGINES
    ENGINES.clear()
    ENGINES.update(kept)


SEAMS = {
    "audio.tts": "speak",
    "audio.recognizer": "transcribe",
    "agent.model": "stream",
    "agent.intents": "stream",
    "agent.calendars": "look",
    "memory.vectors": "embed",
    "memory.graph": "overran",
}
"""Where adapters are, and the method that makes a class one."""


@pytest.mark.shows("G4", "X2")
@pytest.mark.parametrize(("package", "method"), SEAMS.items())
def test_every_adapter_declares_what_it_sends(package: str, method: str) -> None:
    adapters = [each for each in classes_below(package) if method in vars(each) and each.__name__ not in NO_ADAPTERS]
    assert adapters
    assert [each.__name__ for each in adapters if "sends_to" not in declared_in(each)] == []


@pytest.mark.shows("V19", "X2")
def test_every_voice_tells_what_its_sound_depends_on() -> None:
    """Else what was kept of one server's voice would be heard as another's."""
    voices = [each for each in classes_below("audio.tts") if hasattr(each, "speak") and not inspect.isabstract(each)]
    voices = [each for each in voices if "Voice" not in each.__name__]
    assert len(voices) > 5
    assert [each.__name__ for each in voices if "identity" not in declared_in(each)] == []


NO_ADAPTERS = {"VoiceProgram", "Handles"}
"""A part of a voice, and what keeps vectors."""


def declared_in(adapter: type) -> set[str]:
    """Return the names a class has or gives its instances; those of `object` are none of them."""
    return {*vars(adapter), *re.findall(r"self\.(\w+)\b.* = ", inspect.getsource(adapter))}


def classes_below(package: str) -> Iterator[type]:
    """Yield the classes that the modules below a package define, protocols left out."""
    root = importlib.import_module(package)
    for found in pkgutil.walk_packages(root.__path__, f"{package}."):
        module = importlib.import_module(found.name)
        for _, each in inspect.getmembers(module, inspect.isclass):
            if each.__module__ == found.name and not getattr(each, "_is_protocol", False):
                yield each


BY_ENGINES = {"sovits", "openai_speech", "wyoming_speech", "openai_recognizer", "wyoming_recognizer"}
"""Sections of servers that are used where `[voice] engines` or `[ears] engines` names them, as the table says."""


def test_the_table_has_every_section_in_which_an_address_is_named() -> None:
    table = "".join(egress_table.table())
    named = {
        section
        for section, kind in SECTIONS.items()
        for name, _, _ in settings_of(kind)
        if name in {"url", "uri", "listen"} or name.endswith("_url")
    }
    assert named > {"machines", "home", "memory"}
    assert {section for section in named - BY_ENGINES if f"`[{section}" not in table} == set()


def test_the_page_on_privacy_has_the_table_that_the_adapters_make() -> None:
    assert EDGE.removesuffix(" ([voice] engines)") in "".join(egress_table.table())
    written = egress_table.in_page(egress_table.PAGE.read_text(encoding="utf-8"))
    assert written.splitlines() == list(egress_table.table()), "run: python -m tests.architecture.egress_table"
