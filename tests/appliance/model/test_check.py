"""The doctor on the mind: real model and embeddings servers on loopback, a real sentence model, a door that answers."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from msgspec.structs import replace

from appliance.config.agent.models import ModelSettings, NamedModel
from appliance.config.load import Config, Secret, load
from appliance.config.sections import MemorySettings
from appliance.doctor.examine import Line, Verdict, examine, service
from appliance.model import check as checks_model
from appliance.model.check import judge_failures, judge_models
from memory.json_value import Json
from tests.appliance.door_fakes import ScriptedHandler, serving
from tests.memory.onnx_model import write_model


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return load(environ={"HOME": str(tmp_path)})


def seen(line: Line) -> tuple[Verdict, str]:
    return line.verdict, line.what


LISTED = json.dumps({"object": "list", "data": [{"id": "tiny", "object": "model"}, {"id": "embed:latest"}]})


@asynccontextmanager
async def model_server(status: str, body: str = LISTED) -> AsyncIterator[tuple[str, list[bytes]]]:
    """An OpenAI-compatible server that lists two models: its base URL, and what it was asked."""
    asked: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body.encode())}\r\n\r\n"
        writer.write(f"{head}{body}".encode())
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", asked


def thinking_at(config: Config, url: str) -> Config:
    return replace(
        config,
        model=ModelSettings("openai", "tiny", url, "HOUSE_KEY"),
        secrets={"HOUSE_KEY": Secret("planted-key")},
    )


async def test_a_model_server_that_answers(config: Config) -> None:
    async with model_server("200 OK") as (url, asked):
        line = await asyncio.to_thread(checks_model.model, thinking_at(config, url + "/"))
    assert line.verdict is Verdict.OK
    assert line.what == "tiny, its server answers"
    assert asked[0].startswith(b"GET /v1/models HTTP/1.1\r\n")
    assert b"Bearer planted-key" in asked[0]


async def test_a_model_server_that_refuses_the_key(config: Config) -> None:
    async with model_server("401 Unauthorized") as (url, _):
        line = await asyncio.to_thread(checks_model.model, thinking_at(config, url))
    assert seen(line) == (Verdict.FAULT, f"{url} refuses the key")
    assert "api_key_env" in line.fix
    assert "planted-key" not in str(line)


async def test_a_model_server_that_speaks_no_tls_is_told_so(config: Config) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        line = await asyncio.to_thread(checks_model.model, thinking_at(config, url))
    assert seen(line) == (Verdict.FAULT, f"{url} does not speak TLS")
    assert "write http://" in line.fix


def test_a_model_server_that_is_down(config: Config, unused_tcp_port: int) -> None:
    line = checks_model.model(thinking_at(config, f"http://127.0.0.1:{unused_tcp_port}/v1"))
    assert seen(line) == (
        Verdict.FAULT,
        f"http://127.0.0.1:{unused_tcp_port}/v1 does not answer (ConnectError)",
    )
    assert "base_url" in line.fix


def test_no_model_is_a_choice_or_a_warning(config: Config) -> None:
    assert seen(checks_model.model(replace(config, model=ModelSettings("offline")))) == (
        Verdict.OK,
        "offline, as it is set",
    )


def at_provider(config: Config, name: str, url: str = "") -> Config:
    key = {"gemini": "GEMINI_API_KEY", "openai": "OPENAI_API_KEY"}.get(name.partition("/")[0], "ANTHROPIC_API_KEY")
    return replace(config, model=ModelSettings("litellm", name, url), secrets={key: Secret("planted-key")})


@pytest.mark.shows("H5")
@pytest.mark.parametrize(
    ("name", "request_line", "header"),
    [
        ("anthropic/some", b"GET /v1/v1/models HTTP/1.1", b"x-api-key: planted-key"),
        ("gemini/some", b"GET /v1/v1beta/models HTTP/1.1", b"x-goog-api-key: planted-key"),
        ("openai/some", b"GET /v1/models HTTP/1.1", b"Authorization: Bearer planted-key"),
    ],
)
async def test_a_provider_s_key_is_tried_with_a_request_that_costs_nothing(
    config: Config, name: str, request_line: bytes, header: bytes
) -> None:
    async with model_server("200 OK") as (url, asked):
        line = await asyncio.to_thread(checks_model.model, at_provider(config, name, url))
    assert line == Line("model", Verdict.OK, f"{name}, its provider takes the key")
    [request] = asked
    assert request.startswith(request_line)
    assert header.lower() in request.lower()


@pytest.mark.shows("H5")
@pytest.mark.parametrize(
    ("status", "body"), [("401 Unauthorized", "{}"), ("403 Forbidden", ""), ("400 Bad Request", "API key not valid")]
)
async def test_a_key_that_a_provider_refuses_is_a_fault(config: Config, status: str, body: str) -> None:
    async with model_server(status, body) as (url, _):
        line = await asyncio.to_thread(checks_model.model, at_provider(config, "anthropic/some", url))
    assert seen(line) == (Verdict.FAULT, "the provider of anthropic/some refuses the key")
    assert line.fix == "set ANTHROPIC_API_KEY anew"
    assert "planted-key" not in str(line)


async def test_the_key_of_one_that_only_stands_in_is_tried_too(config: Config) -> None:
    async with model_server("401 Unauthorized") as (url, _), model_server("200 OK") as (good, asked):
        thinks = at_provider(config, "anthropic/some", good)
        spare = NamedModel("litellm", "openai/m", url, "HOUSE_KEY")
        unused = NamedModel("litellm", "gemini/m", url)
        both = replace(
            thinks,
            model=replace(thinks.model, fallbacks="spare"),
            models={"spare": spare, "unused": unused},
            secrets={**thinks.secrets, "HOUSE_KEY": Secret("other-key")},
        )
        line = await asyncio.to_thread(checks_model.model, both)
    assert line.what == "anthropic/some, its provider takes the key; the provider of openai/m refuses the key"
    assert (line.verdict, line.fix, len(asked)) == (Verdict.FAULT, "set HOUSE_KEY anew", 1)


async def test_a_key_goes_to_nobody_but_its_provider(config: Config) -> None:
    async with model_server("200 OK") as (url, asked):
        other = replace(
            config, model=ModelSettings("openai", "tiny", url), secrets={"OPENAI_API_KEY": Secret("planted-key")}
        )
        line = await asyncio.to_thread(checks_model.model, other)
    assert line.verdict is Verdict.OK
    assert b"planted-key" not in b"".join(asked)


def test_a_provider_that_nobody_knows_is_not_asked(config: Config) -> None:
    line = checks_model.model(at_provider(config, "elsewhere/some"))
    assert seen(line) == (Verdict.OK, "elsewhere/some; its provider is not asked: every request there may cost")


def test_a_provider_without_its_key_is_a_fault(config: Config) -> None:
    other = replace(config, model=ModelSettings("litellm", "gemini/some"), secrets={"OPENAI_API_KEY": Secret("k")})
    line = checks_model.model(other)
    assert seen(line) == (Verdict.FAULT, "there is no key for gemini/some")
    assert "GEMINI_API_KEY" in line.fix


def test_a_model_setting_that_lacks_something_is_a_fault(config: Config) -> None:
    (line,) = examine(replace(config, model=ModelSettings("openai")), [checks_model.model])
    assert line.verdict is Verdict.FAULT
    assert '[model] provider = "openai" needs base_url and name' in line.what


async def test_a_service_is_found_and_asked(config: Config) -> None:
    assert await asyncio.to_thread(service, config) == Line("service", Verdict.OK, "not running")
    async with serving(config.socket, ScriptedHandler()):
        line = await asyncio.to_thread(service, config)
    assert line.verdict is Verdict.OK
    assert f"running, answers at {config.socket} in " in line.what


async def test_a_service_that_fails_to_answer_is_a_fault(config: Config) -> None:
    async with serving(config.socket, ScriptedHandler(error=KeyError("bug"))):
        (line,) = await asyncio.to_thread(lambda: list(examine(config, [service])))
    assert seen(line) == (Verdict.FAULT, "something went wrong inside; the log says what")


@pytest.mark.parametrize(
    ("status", "body", "verdict", "said"),
    [
        ("200 OK", '{"data": [{"id": "a"}, {"id": "b"}]}', Verdict.WARNING, "does not list tiny; it has a, b"),
        ("200 OK", '{"data": []}', Verdict.OK, "tiny, its server answers"),
        ("200 OK", "<html>", Verdict.OK, "tiny, its server answers"),
        ("404 Not Found", "", Verdict.OK, "tiny, its server answers"),
        ("503 Busy", "", Verdict.FAULT, "is in trouble (status 503)"),
    ],
)
async def test_what_a_model_server_says_is_weighed(
    config: Config, status: str, body: str, verdict: Verdict, said: str
) -> None:
    async with model_server(status, body) as (url, _):
        line = await asyncio.to_thread(checks_model.model, thinking_at(config, url))
    assert line.verdict is verdict
    assert said in line.what


def test_a_server_with_many_models_is_told_briefly() -> None:
    line = judge_models("model", "x", [str(n) for n in range(9)], "fix")
    assert line == Line(
        "model", Verdict.WARNING, "its server answers and does not list x; it has 0, 1, 2, 3, 4, …", "fix"
    )


def test_a_model_whose_last_call_came_to_nothing_is_no_sound_one_though_its_server_answers() -> None:
    line = Line("model", Verdict.OK, "m, its server answers")
    zone = ZoneInfo("Asia/Shanghai")
    assert judge_failures(line, None, zone) == judge_failures(line, {}, zone) == line
    failed: Json = {"m": {"at": "2026-11-21T20:00:00+00:00", "reason": "the answer of m was empty"}}
    judged = judge_failures(line, failed, zone)
    assert judged.verdict is Verdict.WARNING
    assert judged.what.startswith("m, its server answers; m failed at 2026-11-22 04:00:")
    assert judged.what.endswith(": the answer of m was empty")


def test_embeddings_that_are_off_are_fine(config: Config) -> None:
    assert seen(checks_model.embeddings(config))[0] is Verdict.OK
    local = replace(config, memory=MemorySettings(enabled=False, embeddings="local"))
    assert seen(checks_model.embeddings(local))[0] is Verdict.OK


@pytest.mark.shows("C8", "H5")
def test_a_local_embedding_model_is_let_make_a_vector(config: Config, tmp_path: Path) -> None:
    write_model(tmp_path / "tiny")
    tokenizer = (tmp_path / "tiny/tokenizer.json").read_text(encoding="utf-8")
    (tmp_path / "tiny/tokenizer.json").write_text(tokenizer.replace('"tea"', '"a"').replace('"dog"', '"the"'))
    local = replace(config, memory=MemorySettings(embeddings="local", embedding_model=str(tmp_path / "tiny")))
    line = checks_model.embeddings(local)
    assert line.verdict is Verdict.OK
    assert line.what.startswith("local:tiny makes 3 numbers of a sentence in ")


@pytest.mark.shows("C8", "H5")
def test_a_local_embedding_model_that_is_none_is_a_fault(config: Config, tmp_path: Path) -> None:
    local = replace(config, memory=MemorySettings(embeddings="local", embedding_model=str(tmp_path / "none")))
    (line,) = examine(local, [checks_model.embeddings])
    assert line.verdict is Verdict.FAULT
    assert f"{tmp_path}/none is no embedding model" in line.what


async def test_an_embeddings_api_is_asked_for_its_models_only(config: Config) -> None:
    async with model_server("200 OK") as (url, asked):
        memory = MemorySettings(
            embeddings="api", embedding_model="embed", embedding_url=url, embedding_key_env="HOUSE_KEY"
        )
        api = replace(config, memory=memory, secrets={"HOUSE_KEY": Secret("planted-key")})
        line = await asyncio.to_thread(checks_model.embeddings, api)
    assert line == Line("embeddings", Verdict.OK, "embed, its server answers")
    assert [each.split(b"\r\n")[0] for each in asked] == [b"GET /v1/models HTTP/1.1"]
    assert b"Bearer planted-key" in asked[0]


async def test_an_embeddings_api_that_refuses_the_key(config: Config) -> None:
    async with model_server("403 Forbidden") as (url, _):
        memory = MemorySettings(embeddings="api", embedding_model="embed", embedding_url=url)
        line = await asyncio.to_thread(checks_model.embeddings, replace(config, memory=memory))
    assert seen(line) == (Verdict.FAULT, f"{url} refuses the key")
    assert "embedding_key_env" in line.fix
