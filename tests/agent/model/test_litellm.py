"""litellm kept in its place: imported late, in a thread of its own, with its network and its chatter off."""

import asyncio
import importlib
import inspect
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from agent.errors import ModelRefused
from agent.model.interface import Answer, TextDelta
from agent.model.litellm import LiteLlmModel
from agent.model.litellm_thread import CHUNKS_AHEAD, OPENAI_CALLS, as_it_is
from agent.model.messages import Message, ToolSpec
from tests.agent.openai_server import Gate, OpenAiServer, calls, chunk, error, stream, text

# litellm sets this filter when it is imported; pytest takes it back after each test.

HELLO = [Message("system", "You are nakari."), Message("user", "hello")]
TOOLS = [ToolSpec("reply", "Say something.", {"type": "object", "properties": {}})]
ROOT = Path(__file__).parents[3]


async def ask(model: LiteLlmModel) -> Answer:
    last = [item async for item in model.stream(HELLO, TOOLS)][-1]
    assert isinstance(last, Answer)
    return last


def run_alone(code: str, folder: Path, **environment: str) -> Any:
    """Run code in a fresh process that refuses the network, and return the JSON that it prints."""
    guard = "import sys; from tests.guard import refuse_the_network; reached = refuse_the_network()\n"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LITELLM", "HF_", "CI"))}
    done = subprocess.run(
        [sys.executable, "-c", guard + textwrap.dedent(code)],
        env={**kept, "PYTHONPATH": str(ROOT), **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=55,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


@pytest.mark.shows("F30", "H9")
def test_importing_the_adapter_imports_nothing_heavy(tmp_path: Path) -> None:
    code = """
        import json, agent.model.litellm
        print(json.dumps([name for name in ("litellm", "openai", "aiohttp", "tiktoken") if name in sys.modules]))
    """
    assert run_alone(code, tmp_path) == []


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What was seen of the adapter in a fresh process, which waits five seconds of the processor for its library."""
    folder = tmp_path_factory.mktemp("alone")
    (folder / ".env").write_text("PLANTED_IN_ENV_FILE=1\n")
    code = """
        import asyncio, json, os
        from agent.model.litellm import LiteLlmModel
        from agent.model.messages import Message
        from memory.trust import trusted
        from tests.agent.openai_server import OpenAiServer, text

        async def main():
            async with OpenAiServer() as server:
                model = LiteLlmModel("openai/m", "sk-secret", server.url)
                await model.warm()
                warm = set(sys.modules)
                server.enqueue(text("Hi."))
                answer = [item async for item in model.stream([Message("user", "hello")], [])][-1]
                late = sorted(name for name in set(sys.modules) - warm if name.startswith("openai.resources"))
                from litellm.llms.custom_httpx.http_handler import get_ssl_configuration
                trusts = get_ssl_configuration() is trusted()
                await model.aclose()
                return dict(said=answer.message.content, late=late, trusts=trusts)

        seen = asyncio.run(main())
        print(json.dumps(dict(**seen, reached=reached, planted=os.environ.get("PLANTED_IN_ENV_FILE"))))
    """
    found = run_alone(code, folder)
    assert isinstance(found, dict)
    return found


def test_its_clients_trust_what_this_machine_trusts(alone: dict[str, Any]) -> None:
    assert alone["trusts"] is True


@pytest.mark.shows("F30", "G4")
def test_it_reaches_nobody_reads_no_env_file_and_is_ready_after_warming(alone: dict[str, Any]) -> None:
    assert (alone["said"], alone["late"], alone["reached"], alone["planted"]) == ("Hi.", [], [], None)


@pytest.mark.shows("F30")
def test_without_litellm_there_is_one_sentence_with_the_mend(tmp_path: Path) -> None:
    (tmp_path / "litellm.py").write_text("raise ImportError('No module named fastuuid')\n")
    code = """
        import asyncio, json
        sys.path.insert(0, ".")
        from agent.errors import ModelRefused
        from agent.model.litellm import LiteLlmModel
        from agent.model.messages import Message

        async def main():
            model = LiteLlmModel("openai/m", "sk-secret")
            await model.warm()
            try:
                await anext(model.stream([Message("user", "hello")], []))
            except ModelRefused as error:
                return str(error)
            finally:
                await model.aclose()

        print(json.dumps(asyncio.run(main())))
    """
    sentence = run_alone(code, tmp_path)
    assert "No module named fastuuid" in sentence
    assert "run scripts/setup" in sentence


@pytest.mark.shows("F1")
async def test_two_models_do_not_share_their_connections_end() -> None:
    async with OpenAiServer() as server:
        one, other = (LiteLlmModel("openai/m", "sk-secret", server.url) for _ in range(2))
        server.enqueue(text("One."), text("Other."), text("Other again."))
        assert (await ask(one)).message.content == "One."
        assert (await ask(other)).message.content == "Other."
        await one.aclose()
        assert (await ask(other)).message.content == "Other again."
        await other.aclose()


async def test_a_closed_model_starts_anew_when_asked() -> None:
    async with OpenAiServer() as server:
        model = LiteLlmModel("openai/m", "sk-secret", server.url)
        server.enqueue(text("One."), text("Two."))
        for expected in ("One.", "Two."):
            assert (await ask(model)).message.content == expected
            await model.aclose()


async def test_an_answer_longer_than_what_may_wait_arrives_whole() -> None:
    words = [f"Word{number} " for number in range(5 * CHUNKS_AHEAD)]
    async with OpenAiServer() as server:
        server.enqueue(stream(*(chunk({"content": word}) for word in words), chunk({}, "stop"), b"data: [DONE]\n\n"))
        model = LiteLlmModel("openai/m", "sk-secret", server.url)
        items = model.stream(HELLO, TOOLS)
        await asyncio.to_thread(lambda: None)  # the reader is slow to begin
        told = [item.text async for item in items if isinstance(item, TextDelta)]
        await model.aclose()
    assert told == words


async def test_closing_the_model_ends_a_call_under_way() -> None:
    gate = Gate()
    async with OpenAiServer() as server:
        server.enqueue(text("Hello", gate))
        model = LiteLlmModel("openai/m", "sk-secret", server.url)
        async with asyncio.TaskGroup() as group:
            asking = group.create_task(_failure(model))
            await gate.reached.wait()
            async with asyncio.timeout(120):
                await model.aclose()
        assert "broke off" in asking.result()


async def _failure(model: LiteLlmModel) -> str:
    try:
        await ask(model)
    except Exception as error:  # noqa: BLE001  whatever it is, the test looks at its words
        return str(error)
    return ""


@pytest.mark.shows("F6")
async def test_a_provider_nobody_knows_is_refused_in_one_sentence() -> None:
    model = LiteLlmModel("nobody/knows-this", "sk-secret")
    with pytest.raises(ModelRefused) as raised:
        await ask(model)
    await model.aclose()
    assert "nobody/knows-this" in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.shows("F1")
async def test_parameters_go_along() -> None:
    async with OpenAiServer() as server:
        server.enqueue(calls(said="Hi."), error(500, "x"))
        model = LiteLlmModel("openai/m", "sk-secret", server.url, {"temperature": 0.2, "max_tokens": 50})
        await ask(model)
        await model.aclose()
    body = server.requests[0].json
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("m", 0.2, 50)


async def test_openais_client_does_not_walk_what_is_in_the_wires_form_already() -> None:
    """Which takes it 16 to 50 ms for 200 messages; a client that was rebuilt inside shows here."""
    async with OpenAiServer() as server:
        server.enqueue(text("Yes."))
        model = LiteLlmModel("openai/m", "-", server.url)
        await model.warm()
        assert (await ask(model)).message.content == "Yes."
        await model.aclose()
        sent = server.requests[-1].json
    client = importlib.import_module(OPENAI_CALLS)
    names = inspect.unwrap(client.AsyncCompletions.create).__code__.co_names
    assert client.async_maybe_transform is as_it_is
    assert "async_maybe_transform" in names, "what it sends with"
    assert [message["content"] for message in sent["messages"]] == [message.content for message in HELLO]
    assert sent["tools"][0]["function"]["name"] == "reply"
