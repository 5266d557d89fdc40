"""The catalog of models in the configuration, and the choice among them while nakari runs."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.bus import Bus
from agent.model.chain import Chain, Guarded, Prices
from agent.model.interface import ToolCallStarted
from agent.model.messages import Message, ToolSpec
from agent.model.openai_compatible import OpenAiCompatibleModel
from agent.record import Recorder
from appliance.config.load import Config, load
from appliance.errors import ConfigError, Exit, Problem
from appliance.model.catalog import catalog_of
from appliance.model.choose import choose_models
from appliance.model.switch import ANSWERED, ModelChoice
from memory.state import journal as journal_module
from memory.state.database import Database
from memory.state.journal import Entry, Journal
from tests.agent.openai_server import OpenAiServer, text
from tests.fakes import ScriptedModel

CATALOG = """
[model]
provider = "openai"
base_url = "http://127.0.0.1:8080/v1"
name = "qwen3"
slots = 2
fallbacks = "claude"

[models.claude]
provider = "litellm"
name = "anthropic/claude-haiku-5-5"
temperature = 0.3
max_tokens = 500
price_prompt = 1.0

[models.big]
base_url = "https://api.deepseek.com/v1"
name = "deepseek-v4"
"""


def configured(folder: Path, text: str) -> Config:
    file = folder / "nakari.toml"
    file.write_text(text)
    return load(file, {"HOME": str(folder), "ANTHROPIC_API_KEY": "sk-ant"})


@pytest.mark.shows("F2", "F1")
async def test_the_catalog_gives_aliases_parameters_and_the_order(tmp_path: Path) -> None:
    chain = await choose_models(catalog_of(configured(tmp_path, CATALOG)))
    assert chain.aliases == ["configured", "claude", "big", "offline"]
    assert [model.name for model in chain.to_ask] == ["127.0.0.1:8080/qwen3", "anthropic/claude-haiku-5-5", "offline"]
    local = chain.models[0].model
    assert isinstance(local, OpenAiCompatibleModel)
    for model in chain.models:
        await model.aclose()


@pytest.mark.shows("F1", "F2")
async def test_tools_in_the_prompt_can_be_configured(tmp_path: Path) -> None:
    tools = [ToolSpec("reply", "Say something.", {"type": "object", "properties": {"text": {"type": "string"}}})]
    async with OpenAiServer() as server:
        server.enqueue(text('<tool_call>\n{"name": "reply", "arguments": {"text": "Hi."}}\n</tool_call>'))
        model = f'[model]\nprovider = "openai"\nbase_url = "{server.url}"\nname = "m"\ntools = "text"\n'
        chain = await choose_models(catalog_of(configured(tmp_path, model)))
        items = [item async for item in chain.first.stream([Message("user", "hello")], tools)]
        await chain.first.aclose()
    assert [item.name for item in items if isinstance(item, ToolCallStarted)] == ["reply"]
    assert "tools" not in server.requests[0].json


@pytest.mark.shows("F2")
async def test_one_of_the_catalog_may_think_from_the_start(tmp_path: Path) -> None:
    chain = await choose_models(catalog_of(configured(tmp_path, CATALOG.replace("slots = 2", 'use = "big"'))))
    assert chain.first.name == "api.deepseek.com/deepseek-v4"


@pytest.mark.shows("F2")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[model]\nuse = "fast"\n[models.big]\nname = "x"', 'line 2: [model] use names no model "fast"; there are big'),
        ('[model]\nfallbacks = "big, fast"\n[models.big]\nname = "x"', 'fallbacks names no model "fast"'),
        ('[model]\nuse = "fast"', "describe it below [models.NAME]"),
        pytest.param(
            f'[model]\nfallbacks = "{"x" * 200_000}"', f'names no model "{"x" * 59}…; there are none', id="long"
        ),
        ("[models]\nbig = 3", "[models.big]"),
        ('[models.offline]\nname = "x"', "[models.offline] has a name that nakari itself uses"),
        ('[models.big]\nnaem = "x"', "[models.big] has no key naem; did you mean name?"),
        ("[models.big]\ntemperature = 3.0", "line 2: [models.big] temperature should be at most 2"),
        ('[models.big]\nbase_url = "ftp://x"', "[models.big] base_url should begin with http://"),
    ],
)
def test_what_is_wrong_with_the_catalog_is_one_sentence(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ConfigError) as raised:
        configured(tmp_path, text)
    assert says in str(raised.value)
    assert raised.value.code == Exit.CONFIG


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[model]\nprovider = "openai"', '[model] provider = "openai" needs base_url and name'),
        ('[models.big]\nprovider = "openai"', '[models.big] provider = "openai" needs base_url and name'),
        ('[models.big]\nprovider = "litellm"', '[models.big] provider = "litellm" needs name'),
        ('[models.big]\nprovider = "offline"', "[models.big] is offline, which is there anyway"),
    ],
)
async def test_a_model_that_lacks_something_is_told_by_its_own_section(tmp_path: Path, text: str, says: str) -> None:
    config = replace(configured(tmp_path, text), secrets={})
    with pytest.raises(ConfigError) as raised:
        await choose_models(catalog_of(config))
    assert says in str(raised.value)


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    database = Database(tmp_path / "nakari.db")
    await database.open(journal_module.SCHEMA)
    yield Journal(database)
    await database.close()


def choice_of(journal: Journal, now: datetime) -> ModelChoice:
    answer, prices = Message("assistant", "Yes."), Prices(completion=25_000.0)
    aliases = ("configured", "big", "offline")
    chain = Chain([Guarded(alias, ScriptedModel(answer, name=alias), prices) for alias in aliases])
    return ModelChoice(chain, journal, Bus(Recorder(journal)), UTC, lambda: now)


@pytest.mark.shows("F3")
async def test_a_choice_survives_the_restart(journal: Journal) -> None:
    now = datetime(2026, 11, 21, 12, tzinfo=UTC)
    choice = choice_of(journal, now)
    await choice.restore()
    assert await choice.use("big") == "big thinks from the next event on."
    assert choice.chain.first.alias == "configured"
    assert choice.chain.settle() == "big"

    again = choice_of(journal, now)
    await again.restore()
    assert again.chain.first.alias == "big"


async def test_an_alias_nobody_knows_is_told_with_those_there_are(journal: Journal) -> None:
    with pytest.raises(Problem, match="there is no model fast, only configured, big, offline; to have it") as raised:
        await choice_of(journal, datetime(2026, 11, 21, 12, tzinfo=UTC)).use("fast")
    assert raised.value.code == Exit.NO_INPUT


async def test_today_is_counted_over_restarts_and_ends_at_midnight(journal: Journal) -> None:
    now = datetime(2026, 11, 21, 12, tzinfo=UTC)
    cost = {"prompt_tokens": 100, "cached_tokens": 90, "completion_tokens": 10, "cost_usd": 0.5}
    await journal.append(
        Entry(ANSWERED, cost, at=now - timedelta(days=1)), Entry(ANSWERED, cost, at=now - timedelta(hours=1))
    )
    choice = choice_of(journal, now)
    await choice.restore()
    async for _ in choice.chain.models[0].stream([Message("user", "hello")], []):
        pass
    described = choice.describe()
    assert described["today"] == {
        "calls": 2,
        "prompt_tokens": 200,
        "cached_share": 0.9,
        "completion_tokens": 20,
        "cost_usd": 0.75,
    }
    assert described["since_start"] == {**described["today"], "calls": 1, "prompt_tokens": 100} | {
        "completion_tokens": 10,
        "cost_usd": 0.25,
    }
    choice.now = lambda: now + timedelta(days=1)
    today = choice.describe()["today"]
    assert isinstance(today, dict)
    assert today["calls"] == 0
