"""Who makes vectors, as the configuration says it: chosen, wired to the tool, and told where something is missing."""

import json
from pathlib import Path

import pytest

from agent.event import USER_TEXT, Event
from agent.tools.tool import Call, run_tool
from appliance.config.load import Config, load
from appliance.errors import ConfigError
from appliance.model.sentence import NAME
from appliance.wiring.memory.graph import choose_embedder, embedding_folder, graph_side
from memory.vectors.embedding import NoEmbedder, OpenAiEmbedder, handle_of
from memory.vectors.embedding_local import LocalEmbedder
from tests.memory.embeddings_server import embeddings_server
from tests.memory.onnx_model import write_model

pytestmark = pytest.mark.shows("C8")


def config_of(tmp_path: Path, text: str, **environ: str) -> Config:
    file = tmp_path / "nakari.toml"
    file.write_text(f"[memory]\n{text}\n", encoding="utf-8")
    return load(file, {"HOME": str(tmp_path), **environ})


async def asked(config: Config, text: str, times: int = 1) -> list[str]:
    """Return what the tool `embedding` answers on the graph side that this configuration makes."""
    async with graph_side(config) as graph:
        (tool,) = (tool for tool in graph.tools if tool.name == "embedding")
        arguments = json.dumps({"text": text})
        return [await run_tool(tool, arguments, Call(str(n), Event(USER_TEXT, text))) for n in range(times)]


def handle_json(text: str, model: str) -> str:
    """Return the whole answer of the tool: no number of the vector is in it."""
    return f'{{"handle":"{handle_of(text, model)}"}}'


@pytest.mark.shows("F29")
async def test_without_a_word_it_is_the_model_of_the_box_as_soon_as_that_is_here(tmp_path: Path) -> None:
    config = config_of(tmp_path, "")
    embedder = choose_embedder(config)
    (answer,) = await asked(config, "tea")
    assert answer.startswith("error: there is no embedding model here yet (it is being fetched); everything else works")
    write_model(config.state_folder / "models" / NAME)
    assert len(await embedder.embed(["tea"])) == 1  # without a restart
    await embedder.close()
    assert await asked(config, "tea") == [handle_json("tea", f"local:{NAME}")]


async def test_where_nothing_may_be_fetched_it_says_how(tmp_path: Path) -> None:
    (answer,) = await asked(config_of(tmp_path, "[ears]\ndownload = false"), "tea")
    assert f"(`nakari models pull {NAME}` fetches it)" in answer


async def test_what_is_off_is_off_and_the_tool_says_what_works_without(tmp_path: Path) -> None:
    config = config_of(tmp_path, 'embeddings = "off"')
    assert isinstance(choose_embedder(config), NoEmbedder)
    (answer,) = await asked(config, "tea")
    assert answer.startswith(
        'error: there is no embedding model here ([memory] embeddings = "auto", "local" or "api" sets one)'
    )
    assert "everything else works" in answer


async def test_a_model_in_a_folder_makes_the_tool_s_vectors(tmp_path: Path) -> None:
    write_model(tmp_path / "tiny")
    config = config_of(tmp_path, f'embeddings = "local"\nembedding_model = "{tmp_path}/tiny"')
    assert isinstance(choose_embedder(config), LocalEmbedder)
    assert await asked(config, "tea", times=2) == [handle_json("tea", "local:tiny")] * 2


async def test_a_folder_that_is_none_is_told_by_the_tool_and_stops_nothing(tmp_path: Path) -> None:
    config = config_of(tmp_path, f'embeddings = "local"\nembedding_model = "{tmp_path}/nowhere"')
    (answer,) = await asked(config, "tea")
    assert answer.startswith(f"error: {tmp_path}/nowhere is no embedding model: model.onnx and tokenizer.json missing")
    assert "[memory] embedding_model" in answer


async def test_an_api_makes_the_tool_s_vectors_with_the_key_of_the_environment(tmp_path: Path) -> None:
    async with embeddings_server() as server:
        text = f'embeddings = "api"\nembedding_model = "small"\nembedding_url = "{server.url}"\n'
        config = config_of(tmp_path, f'{text}embedding_key_env = "HOUSE_KEY"', HOUSE_KEY="planted-key")
        assert isinstance(choose_embedder(config), OpenAiEmbedder)
        answers = await asked(config, "green tea", times=3)
    assert answers == [handle_json("green tea", "small")] * 3
    assert server.asked == [{"model": "small", "input": ["green tea"]}]
    assert server.keys == ["bearer planted-key"]


async def test_what_an_api_says_in_anger_reaches_the_tool_in_a_sentence(tmp_path: Path) -> None:
    async with embeddings_server(lambda _: (429, b"quota")) as server:
        text = f'embeddings = "api"\nembedding_model = "small"\nembedding_url = "{server.url}"'
        (answer,) = await asked(config_of(tmp_path, text), "tea")
    assert answer == "error: the embeddings server refuses (429: quota): it has had enough for now; try again later"


async def test_who_makes_them_is_in_the_status(tmp_path: Path) -> None:
    async with graph_side(config_of(tmp_path, 'embeddings = "local"\nembedding_model = "tiny"')) as graph:
        assert (await graph.describe())["embeddings"] == "local:tiny"


@pytest.mark.parametrize(
    ("named", "folder"),
    [("tiny", "state/models/tiny"), ("/opt/tiny", "/opt/tiny"), ("a/b", "state/models/a/b")],
)
def test_a_bare_name_is_a_folder_among_the_models_of_the_box(tmp_path: Path, named: str, folder: str) -> None:
    config = config_of(tmp_path, f'embedding_model = "{named}"\n[state]\nfolder = "{tmp_path}/state"')
    assert embedding_folder(config.state_folder, config.memory.embedding_model) == tmp_path / folder


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('embeddings = "local"', 'embeddings = "local" needs embedding_model, a model\'s folder; add it'),
        ('embeddings = "api"', 'embeddings = "api" needs embedding_model, a model\'s name; add it'),
        (
            'embeddings = "api"\nembedding_model = "x"',
            'embeddings = "api" needs embedding_url, the server\'s address; add it',
        ),
    ],
)
def test_a_choice_that_lacks_something_is_a_wrong_configuration(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        choose_embedder(config_of(tmp_path, text))
    assert caught.value.sentence == f"[memory] {sentence}"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('embeddings = "onnx"', '[memory] embeddings should be "auto", "off", "local" or "api"'),
        ('embedding_url = "127.0.0.1:11434"', "[memory] embedding_url should begin with http:// or https://"),
        ('embedding_url = "http://me:0123@box/v1"', "should hold no user and no password"),
        ('embedding_key_env = "sk-0123456789"', "not the key itself"),
        ('embedding_key = "x"', "did you mean embedding_key_env?"),
    ],
)
def test_a_wrong_setting_is_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config_of(tmp_path, text)
    assert sentence in caught.value.sentence
    assert "0123" not in caught.value.sentence


def test_the_key_may_be_a_credential(tmp_path: Path) -> None:
    (tmp_path / "HOUSE_KEY").write_text("planted-key\n", encoding="utf-8")
    config = config_of(tmp_path, 'embedding_key_env = "HOUSE_KEY"', CREDENTIALS_DIRECTORY=str(tmp_path))
    assert config.revealed(config.memory.embedding_key_env) == "planted-key"
    assert config_of(tmp_path, "").revealed(config.memory.embedding_key_env) == ""
