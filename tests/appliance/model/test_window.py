"""Which adapter a server gets, and what the doctor and the status say of a model's window."""

import asyncio
from collections.abc import Mapping
from datetime import UTC
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.bus import Bus
from agent.intents.model import OfflineModel
from agent.model.chain import Chain, Guarded
from agent.model.litellm import LiteLlmModel
from agent.model.ollama import OllamaModel
from agent.model.openai_compatible import OpenAiCompatibleModel
from agent.model.window import Window
from agent.record import Recorder
from appliance.cli.look_after.status import in_words
from appliance.config.agent.models import ModelSettings
from appliance.config.load import Config, load
from appliance.doctor.examine import Line, Verdict
from appliance.model import check
from appliance.model.catalog import catalog_of
from appliance.model.check import LONG_PREFIX, judge_window
from appliance.model.choose import choose_models
from appliance.model.switch import ModelChoice
from memory.json_value import Json
from memory.state import journal as journal_module
from memory.state.database import Database
from memory.state.journal import Journal
from tests.agent.openai_server import OpenAiServer
from tests.appliance.door_fakes import ScriptedHandler, serving
from tests.appliance.wiring.test_box import until

pytestmark = pytest.mark.shows("D2", "F1", "H5", "X3")

VLLM = {"/v1/models": {"data": [{"id": "m", "max_model_len": 8192}]}}


class Reading(ScriptedHandler):
    """A service whose model reads 8k."""

    async def status(self, owner_key: str) -> Mapping[str, Json]:
        return {"models": {"window": {"tokens": 8192, "source": "/props", "prefix": 4400}}}


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return load(None, {"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)})


def thinking_with(config: Config, **settings: object) -> Config:
    return replace(config, model=ModelSettings(**{"provider": "openai", "name": "m", **settings}))  # type: ignore[arg-type]  # of the test


@pytest.mark.parametrize(
    ("settings", "adapter", "window"),
    [
        ({"base_url": "http://127.0.0.1:11434/v1"}, OllamaModel, 0),
        ({"base_url": "http://10.0.0.7:11434"}, OllamaModel, 0),
        ({"base_url": "http://10.0.0.7:9000/v1", "profile": "ollama"}, OllamaModel, 0),
        ({"base_url": "http://10.0.0.7:9000/v1", "context_tokens": 6000}, OpenAiCompatibleModel, 6000),
        ({"base_url": "http://127.0.0.1:8080/v1"}, OpenAiCompatibleModel, 0),
        ({"provider": "litellm", "name": "anthropic/claude-haiku-4-5", "context_tokens": 6000}, LiteLlmModel, 6000),
    ],
)
async def test_ollama_is_spoken_to_natively_and_others_in_openai_s_words(
    config: Config, settings: dict[str, object], adapter: type, window: int
) -> None:
    chain = await choose_models(catalog_of(thinking_with(config, **settings)))
    model = chain.first.model
    assert isinstance(model, adapter)
    assert isinstance(model, OllamaModel | OpenAiCompatibleModel | LiteLlmModel)
    assert model.window.in_force.tokens == window
    for each in chain.models:
        await each.aclose()


async def test_the_doctor_asks_the_server_when_no_service_runs(config: Config) -> None:
    async with OpenAiServer(pages=VLLM) as server:
        line = await asyncio.to_thread(check.window, thinking_with(config, base_url=server.url))
    assert line.verdict is Verdict.OK
    assert line.what.startswith("prompt and tools take about 1,")
    assert line.what.endswith("of 8,192 tokens: 19 % (/v1/models)")


async def test_the_doctor_takes_the_running_service_s_word(config: Config) -> None:
    async with serving(config.socket, Reading()):
        line = await asyncio.to_thread(check.window, config)
    assert line.verdict is Verdict.WARNING
    assert line.what == "prompt and tools take 4,400 of 8,192 tokens: 54 % (/props)"
    assert "have its server read more" in line.fix


def test_a_window_that_nobody_knows_is_no_fault(config: Config) -> None:
    assert judge_window(Window()).verdict is Verdict.OK
    assert "learnt from refusals" in judge_window(Window()).what
    assert check.window(thinking_with(config, provider="offline")).verdict is Verdict.OK


@pytest.mark.parametrize(("tokens", "verdict"), [(2048, Verdict.WARNING), (4096, Verdict.OK), (16_384, Verdict.OK)])
def test_more_than_half_is_a_warning(tokens: int, verdict: Verdict) -> None:
    line: Line = judge_window(Window(tokens, "x"))
    assert line.verdict is verdict
    assert bool(line.fix) is (verdict is Verdict.WARNING)


def test_ollama_in_openai_s_words_could_be_given_more() -> None:
    line = judge_window(Window(4096, "/api/ps"))
    assert (line.verdict, "profile" in line.fix) == (Verdict.WARNING, True)


def test_no_window_that_gets_all_tools_is_more_than_half_full_with_them() -> None:
    smallest = next(tokens for tokens in range(1000, 20_000) if not Window(tokens).is_small)
    assert smallest / 2 > LONG_PREFIX


async def test_whoever_is_chosen_while_it_runs_is_asked_what_it_reads(tmp_path: Path) -> None:
    database = Database(tmp_path / "nakari.db")
    await database.open(journal_module.SCHEMA)
    journal = Journal(database)
    async with OpenAiServer(pages=VLLM) as server:
        other = OpenAiCompatibleModel(server.url, "m")
        chain = Chain(
            [Guarded("configured", OfflineModel()), Guarded("other", other), Guarded("offline", OfflineModel())]
        )

        async def is_told() -> bool:
            return other.window.is_told

        choice = ModelChoice(chain, journal, Bus(Recorder(journal)), UTC)
        await choice.use("other")
        async with asyncio.TaskGroup() as group:
            learning = group.create_task(choice.learn())
            await until(is_told)
            learning.cancel()
        await other.aclose()
    await database.close()
    assert other.window.in_force == Window(8192, "/v1/models")


@pytest.mark.shows("G9", "X3")
@pytest.mark.parametrize(
    ("vision", "what"), [("yes", "sees images"), ("no", "reads text only"), ("auto", "nobody says")]
)
def test_the_doctor_says_whether_an_attached_image_is_seen(config: Config, vision: str, what: str) -> None:
    settings = {"provider": "openai", "base_url": "http://127.0.0.1:9/v1", "name": "m", "vision": vision}
    line = check.images(thinking_with(config, **settings))
    assert (line.name, line.verdict, what in line.what) == ("images", Verdict.OK, True)


def test_the_status_tells_it_in_words() -> None:
    models: dict[str, Json] = {"thinks": "m", "window": {"tokens": 8192, "source": "/props", "prefix": 1450}}
    told = [text for title, text in in_words({"models": models}) if title == "model"]
    assert told == ["m; reads 8,192 tokens (/props); 0 calls today"]
