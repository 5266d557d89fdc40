"""How much a context may hold, out of the configuration: what the models can read bounds it."""

from pathlib import Path

import pytest

from agent.context.epochs import EPOCH
from agent.errors import ContextTooLong
from agent.model.openai_compatible import OpenAiCompatibleModel
from agent.model.window import Window, Windows
from appliance.config.load import Config, load
from appliance.model.catalog import catalog_of
from appliance.model.choose import choose_models
from appliance.wiring.agent.agent import CONTEXT_SHARE, context_limits
from tests.agent.mind import a_mind, spoken
from tests.fakes import ScriptedModel, calls

MIND = "[mind]\nhistory_tokens = 300\nhistory_messages = 6\ncompress_above_tokens = 24000\n"
SERVER = '[model]\nprovider = "openai"\nbase_url = "http://127.0.0.1:8080/v1"\nname = "m"\n'
OTHER = '[models.other]\nbase_url = "http://127.0.0.1:8081/v1"\nname = "o"\n'
EVENTS = 24


def configured(folder: Path, text: str) -> Config:
    file = folder / "nakari.toml"
    file.write_text(text)
    return load(file, {"HOME": str(folder)})


@pytest.mark.shows("F2", "D2")
@pytest.mark.parametrize(
    ("text", "most"),
    [
        (SERVER, 24_000),
        (SERVER + "context_tokens = 0\n", 24_000),
        (SERVER + "context_tokens = 200000\n", 24_000),
        (SERVER + "context_tokens = 8000\n", int(8_000 * CONTEXT_SHARE)),
        (SERVER + OTHER + "context_tokens = 8000\n", int(8_000 * CONTEXT_SHARE)),
        (SERVER + "context_tokens = 4000\n" + OTHER + "context_tokens = 8000\n", int(4_000 * CONTEXT_SHARE)),
    ],
)
def test_the_least_that_a_model_reads_lowers_the_threshold(tmp_path: Path, text: str, most: int) -> None:
    limits = context_limits(configured(tmp_path, MIND + text), Windows())()
    assert limits.compress_above_tokens == most
    assert (limits.history_messages, limits.history_tokens) == (6, 300)
    assert limits.window_tokens in {0, most, int(200_000 * CONTEXT_SHARE)}
    assert bool(limits.window_tokens) is ("context_tokens = 0" not in text and "context_tokens" in text)


@pytest.mark.shows("F2", "D2")
def test_what_a_server_says_later_lowers_it_from_then_on(tmp_path: Path) -> None:
    model, windows = OpenAiCompatibleModel("http://127.0.0.1:1/v1", "m"), Windows()
    limits = context_limits(configured(tmp_path, MIND + SERVER), windows)
    windows.follow(lambda: [model])
    assert limits().compress_above_tokens == 24_000
    model.window.told(Window(16_384, "/props"))
    assert limits().compress_above_tokens == 16_384 * 3 // 4
    model.window.refused(ContextTooLong("…", 4096, 5000), [])
    assert limits().compress_above_tokens == 4096 * 3 // 4


@pytest.mark.shows("F3", "D2")
async def test_with_another_model_the_window_is_another(tmp_path: Path) -> None:
    config = configured(tmp_path, MIND + SERVER + "context_tokens = 4000\n" + OTHER + "context_tokens = 8000\n")
    chain, windows = await choose_models(catalog_of(config)), Windows()
    windows.follow(lambda: [each.model for each in chain.may_think])
    limits = context_limits(config, windows)
    assert limits().compress_above_tokens == 3000
    chain.use("other")
    chain.settle()
    assert limits().compress_above_tokens == 6000
    for model in chain.models:
        await model.aclose()


@pytest.mark.shows("F2", "D2")
@pytest.mark.parametrize(("reads", "epochs"), [(0, 1), (2_400, 2)])
async def test_a_small_model_gets_no_list_that_it_cannot_read(tmp_path: Path, reads: int, epochs: int) -> None:
    limits = context_limits(configured(tmp_path, f"{MIND}{SERVER}context_tokens = {reads}\n"), Windows())()
    model = ScriptedModel(
        *(calls(("reply", '{"text": "Yes."}'), prefix=f"c{n}") for n in range(EVENTS)), name="offline"
    )
    largest = 0
    async with a_mind(tmp_path, [model], limits=limits) as mind:
        for number in range(EVENTS):
            await mind.handle(spoken(f"question number {number} " + "and more " * 20))
            largest = max(largest, mind.loop_epoch.tokens)
        opened = len(await mind.journal.entries(topic=EPOCH))
    assert opened >= epochs
    assert (largest < 2_400) is bool(reads)
