"""What would leave this machine is told before it does, by the setting that stops it."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC
from pathlib import Path

import pytest

from agent.bus import Bus
from agent.record import Recorder
from appliance.config.load import Config, Secret, load
from appliance.config.mcp import McpServer
from appliance.config.models import ModelSettings, NamedModel
from appliance.config.sections import EarsSettings, MemorySettings, VoiceSettings
from appliance.doctor import machine as checks_machine
from appliance.doctor.examine import Line, Verdict
from appliance.doctor.memory import chosen_model
from appliance.egress import leaves_the_house
from appliance.model.choose import choose_models
from appliance.model.sentence import NAME, network
from appliance.model.switch import ModelChoice
from memory.errors import StateUnusable
from memory.state import journal as journal_module
from memory.state.database import Database
from memory.state.journal import Journal
from tests.memory.onnx_model import write_model

SILENT = VoiceSettings(engine="espeak")
DEAF = EarsSettings(download=False)


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return load(environ={"HOME": str(tmp_path)})


def quiet(config: Config) -> Config:
    """Return a configuration that stays within this machine."""
    return replace(config, voice=SILENT, ears=DEAF)


EDGE = "the edge voice (what she says; [voice] engine)"
PROVIDER = "the model's provider (what is said and remembered; [model] provider)"
FETCH = "fetching the recognizer's model, once (its name; [ears] download)"
SENTENCES = "fetching the sentence model, once (its name; [ears] download)"
LARGE = "the model's provider (what is said and remembered; [models.large] provider)"
LAN = "the model at http://10.0.0.5/v1 (what is said and remembered; [models.lan] base_url)"
CATALOG = {
    "large": NamedModel("litellm", "anthropic/x"),
    "near": NamedModel("openai", "m", "http://localhost:11434/v1"),
    "lan": NamedModel("openai", "m", "http://10.0.0.5/v1"),
}
MAIL = "the tools of mail at https://mail.example/mcp (what she gives them; [mcp.mail] url)"
KEY = {"OPENAI_API_KEY": Secret("k")}


def embedding_at(url: str, *, enabled: bool = True) -> MemorySettings:
    return MemorySettings(enabled, embeddings="api", embedding_model="m", embedding_url=url)


@pytest.mark.shows("G4")
@pytest.mark.parametrize(
    ("change", "used"),
    [
        (lambda c: c, []),
        (lambda c: replace(c, voice=VoiceSettings()), [EDGE]),
        (lambda c: replace(c, voice=VoiceSettings(edge_url="ws://127.0.0.1:9/x")), []),
        (lambda c: replace(c, voice=VoiceSettings(edge_url="wss://voice.example")), [EDGE]),
        (lambda c: replace(c, ears=EarsSettings()), [FETCH, SENTENCES]),
        (lambda c: replace(c, ears=EarsSettings(), memory=MemorySettings(embeddings="off")), [FETCH]),
        (lambda c: replace(c, ears=EarsSettings(model="small")), [FETCH, SENTENCES]),
        (lambda c: replace(c, ears=EarsSettings(model="no-such-name")), [SENTENCES]),
        (lambda c: replace(c, ears=EarsSettings(model="/opt/whisper")), [SENTENCES]),
        (lambda c: replace(c, model=ModelSettings("openai", "m", "http://localhost:11434/v1"), secrets=KEY), []),
        (lambda c: replace(c, model=ModelSettings("openai", "m", "http://[::1]:8080/v1")), []),
        (
            lambda c: replace(c, model=ModelSettings("openai", "m", "http://192.168.1.5/v1")),
            ["the model at http://192.168.1.5/v1 (what is said and remembered; [model] base_url)"],
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
        (lambda c: replace(c, secrets=KEY), [PROVIDER]),
        (lambda c: replace(c, model=ModelSettings("offline"), secrets=KEY), []),
        (lambda c: replace(c, memory=MemorySettings(uri="bolt://localhost:7687")), []),
        (
            lambda c: replace(c, memory=MemorySettings(uri="neo4j://graph.lan")),
            ["the graph at neo4j://graph.lan (what she remembers; [memory] uri)"],
        ),
        (lambda c: replace(c, memory=MemorySettings(uri="neo4j://graph.lan", enabled=False)), []),
        (lambda c: replace(c, memory=embedding_at("http://127.0.0.1:11434/v1")), []),
        (
            lambda c: replace(c, memory=embedding_at("https://vectors.example/v1")),
            ["the embeddings API at https://vectors.example/v1 (what she compares by meaning; [memory] embeddings)"],
        ),
        (lambda c: replace(c, memory=embedding_at("https://vectors.example/v1", enabled=False)), []),
    ],
)
def test_what_leaves_the_house_is_told(config: Config, change: Callable[[Config], Config], used: list[str]) -> None:
    assert list(leaves_the_house(change(quiet(config)))) == used


@pytest.mark.shows("F3", "G4", "H5")
async def test_a_model_that_was_chosen_while_she_ran_is_counted_too(config: Config) -> None:
    offline = replace(quiet(config), models=CATALOG, model=ModelSettings("offline", fallbacks="lan"))
    config.state_folder.mkdir(parents=True)
    database = Database(config.state_folder / "nakari.db")
    await database.open()
    assert await asyncio.to_thread(chosen_model, config) == "", "no journal yet"
    await database.close()
    await database.open(journal_module.SCHEMA)
    chain = await choose_models(offline)
    choice = ModelChoice(chain, Journal(database), Bus(Recorder(Journal(database))), UTC)
    told = {"large": [LAN, f"{LARGE[:-1]}, chosen with `nakari model use`)"], "near": [LAN], "lan": [LAN]}
    for alias, used in {"offline": [LAN], **told}.items():
        await choice.use(alias)
        line = await asyncio.to_thread(checks_machine.privacy, offline)
        assert line.what == f"leaves this machine: {'; '.join(used)}"
    await choice.use("large")
    alone = replace(offline, model=ModelSettings("offline"))
    assert (await asyncio.to_thread(checks_machine.network, alone)).what != "not needed"
    assert (await asyncio.to_thread(checks_machine.privacy, replace(alone, models={}))).what.startswith("nothing")
    await database.close()
    for model in chain.models:
        await model.aclose()


def test_where_the_choice_cannot_be_read_nothing_is_promised(config: Config) -> None:
    config.state_folder.mkdir(parents=True)
    (config.state_folder / "nakari.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(StateUnusable, match="nobody can tell which model was chosen"):
        checks_machine.privacy(quiet(config))


def test_a_model_server_found_here_comes_before_a_provider(config: Config) -> None:
    keyed = replace(quiet(config), secrets=KEY)
    assert list(leaves_the_house(keyed, has_local_model=True)) == []
    chosen = replace(keyed, model=ModelSettings("litellm", "openai/x"))
    assert list(leaves_the_house(chosen, has_local_model=True)) == [PROVIDER]


@pytest.mark.shows("V4", "G4")
def test_a_model_that_is_here_is_not_fetched(config: Config) -> None:
    hearing = replace(quiet(config), ears=EarsSettings())
    folder = config.state_folder / "models" / "base"
    folder.mkdir(parents=True)
    for name in ("config.json", "model.bin", "tokenizer.json", "preprocessor_config.json", "vocabulary.json"):
        (folder / name).touch()
    assert list(leaves_the_house(hearing)) == [SENTENCES]
    write_model(config.state_folder / "models" / NAME, place=network().rpartition("/")[2])
    assert list(leaves_the_house(hearing)) == []


@pytest.mark.shows("G4", "H5")
def test_the_privacy_line_lists_all_or_says_nothing(config: Config) -> None:
    assert checks_machine.privacy(quiet(config)) == Line("privacy", Verdict.OK, "nothing leaves this machine")
    line = checks_machine.privacy(config)
    assert line == Line("privacy", Verdict.OK, f"leaves this machine: {EDGE}; {FETCH}; {SENTENCES}")


@pytest.mark.shows("B13", "H5")
def test_what_a_program_of_others_sends_on_only_it_knows(config: Config) -> None:
    lent = replace(quiet(config), mcp={"clock": McpServer(command=("uvx", "mcp-server-time"))})
    told = "whatever clock sends on, a program of others (what she gives its tools; [mcp.clock] command)"
    assert checks_machine.privacy(lent).what == f"leaves this machine: {told}"
    assert checks_machine.network(lent).what == "not needed"


def test_a_quiet_configuration_needs_no_network(config: Config) -> None:
    assert checks_machine.network(quiet(config)) == Line("network", Verdict.OK, "not needed")


def test_the_way_out_is_only_looked_for(config: Config) -> None:
    line = checks_machine.network(config)
    assert (line.verdict, line.what) in [
        (Verdict.OK, "there is a way out"),
        (Verdict.WARNING, "no way out, wanted for the edge voice, fetching the recognizer's model, once"),
    ]
