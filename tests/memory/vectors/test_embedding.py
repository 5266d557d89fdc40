"""Texts as vectors: handles that stand for them, and an embeddings API spoken to for real."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from memory.errors import EmbeddingUnavailable, GraphRefused
from memory.vectors.embedding import Handles, NoEmbedder, OpenAiEmbedder, Use, handle_of
from tests.memory.embeddings_server import embeddings_server, letters
from tests.proxies import proxies

pytestmark = pytest.mark.shows("C8")


class CountingEmbedder:
    """Makes vectors of letters and remembers what it was asked."""

    name = "letters"
    sends_to = ()
    is_for_search = False

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str], use: Use = "text") -> list[list[float]]:
        self.asked += texts
        return [letters(text) for text in texts]

    async def close(self) -> None:
        """Hold nothing."""


class MeetingEmbedder(CountingEmbedder):
    """Answers once two texts wait."""

    def __init__(self) -> None:
        super().__init__()
        self.both = asyncio.Event()

    async def embed(self, texts: Sequence[str], use: Use = "text") -> list[list[float]]:
        found = await super().embed(texts)
        if len(self.asked) == 2:
            self.both.set()
        await self.both.wait()
        return found


async def test_the_same_text_is_computed_once_and_has_one_handle() -> None:
    embedder = CountingEmbedder()
    handles = Handles(embedder)
    first = await handles.embed("小明 likes tea")
    assert await handles.embed("小明 likes tea") == first
    assert await handles.embed("another") != first
    assert embedder.asked == ["小明 likes tea", "another"]


async def test_a_text_asked_for_twice_at_once_is_computed_once() -> None:
    embedder = MeetingEmbedder()
    handles = Handles(embedder)
    first, second, other = await asyncio.gather(*(handles.embed(text) for text in ("tea", "tea", "dog")))
    assert first == second != other
    assert sorted(embedder.asked) == ["dog", "tea"]


async def test_a_text_that_failed_is_tried_again() -> None:
    class Recovering(CountingEmbedder):
        async def embed(self, texts: Sequence[str], use: Use = "text") -> list[list[float]]:
            if not self.asked:
                self.asked += texts
                raise EmbeddingUnavailable("not now")
            return await super().embed(texts)

    handles = Handles(Recovering())
    with pytest.raises(EmbeddingUnavailable, match="not now"):
        await handles.embed("tea")
    handle = await handles.embed("tea")
    assert handles.bind({}, [handle]) == {handle: letters("tea")}


async def test_a_handle_means_the_same_after_a_restart() -> None:
    before = await Handles(CountingEmbedder()).embed("a text")
    after = Handles(CountingEmbedder())
    with pytest.raises(GraphRefused, match=f"{before} is not kept any more: call embedding"):
        after.bind({}, [before])
    assert await after.embed("a text") == before
    assert after.bind({}, [before]) == {before: letters("a text")}


async def test_a_handle_needs_no_entry_in_the_parameters() -> None:
    handles = Handles(CountingEmbedder())
    handle = await handles.embed("abc")
    assert handles.bind({"x": 1}, ["x", handle, "other"]) == {"x": 1, handle: letters("abc")}


async def test_a_handle_is_bound_wherever_it_stands_as_a_value() -> None:
    handles = Handles(CountingEmbedder())
    handle = await handles.embed("abc")
    vector = letters("abc")
    given = {"v": handle, "d": f"${handle}", "rows": [{"id": 1, "v": handle}], "t": f"about {handle}", handle: 5}
    assert handles.bind(given, [handle]) == {
        "v": vector,
        "d": vector,
        "rows": [{"id": 1, "v": vector}],
        "t": f"about {handle}",
        handle: 5,
    }


async def test_what_only_looks_like_a_handle_is_a_text() -> None:
    texts = {"a": "vector_1", "b": "vector_", "c": "vector_ABCDEF012345", "d": "$vector", "e": "vector_0123456789abc"}
    assert Handles(CountingEmbedder()).bind(texts, ["vector_1"]) == texts


async def test_the_last_used_vectors_are_kept() -> None:
    embedder = CountingEmbedder()
    handles = Handles(embedder, kept=2)
    a, b = await handles.embed("a"), await handles.embed("b")
    handles.bind({}, [a])
    await handles.embed("c")
    assert handles.bind({}, [a])[a] == letters("a")
    with pytest.raises(GraphRefused, match="call embedding"):
        handles.bind({}, [b])


def test_a_handle_is_a_name_cypher_takes_as_a_parameter() -> None:
    assert handle_of("x", "m").isidentifier()
    assert handle_of("x", "m") != handle_of("x", "other model")
    assert handle_of("\ud800", "m").isidentifier()


async def test_without_a_model_it_is_said_and_what_serves_instead() -> None:
    with pytest.raises(EmbeddingUnavailable, match=r"no embedding model here.*everything else works.*by words"):
        await Handles(NoEmbedder()).embed("a text")


async def test_an_api_is_asked_in_its_own_format() -> None:
    async with embeddings_server() as server:
        embedder = OpenAiEmbedder(server.url + "/", "some-model", "a-key")
        assert await embedder.embed(["one", "two"]) == [letters("one"), letters("two")]
        await embedder.close()
    assert server.asked == [{"model": "some-model", "input": ["one", "two"]}]
    assert server.keys == ["bearer a-key"]


async def test_no_proxy_of_the_environment_is_used() -> None:
    async with embeddings_server() as server, embeddings_server() as proxy:
        with proxies(proxy.url.removesuffix("/v1")):
            embedder = OpenAiEmbedder(server.url, "m")
        assert await embedder.embed(["x"]) == [letters("x")]
        await embedder.close()
    assert proxy.asked == []


async def test_a_local_server_needs_no_key() -> None:
    async with embeddings_server() as server:
        embedder = OpenAiEmbedder(server.url, "m")
        await embedder.embed(["x"])
        await embedder.close()
    assert server.keys == [""]


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (401, b'{"error": "invalid key: a-secret-key"}', "check the key that [memory] embedding_key_env names"),
        (403, b"", "check the key"),
        (404, b"no such model", "refuses (404: no such model): check [memory] embedding_url and embedding_model"),
        (429, b'{"error": "rate limit"}', "refuses (429: "),
        (429, b"slow down", "had enough for now; try again later"),
        (500, b"<html>\n<body>oops", "refuses (500: <html> <body>oops): the trouble is on its side"),
        (503, b"x" * 10_000, "try again later"),
        (302, b"", "refuses (302"),
        (200, b"<html>", "is no list of vectors"),
        (200, b'{"data": [{"index": 0}]}', "is no list of vectors"),
        (200, b'{"data": [{"index": 0, "embedding": ["x"]}]}', "is no list of vectors"),
        (200, b'{"data": [{"index": 0, "embedding": [NaN, 1]}]}', "a number that is none"),
        (200, b'{"data": [{"index": 0, "embedding": [1e999, 1]}]}', "a number that is none"),
        (200, b'{"data": [{"index": 0, "embedding": "AACAPw=="}]}', "is no list of vectors"),
        (200, b"\xff\xfe", "is no list of vectors"),
        (200, b'{"data": 7}', "is no list of vectors"),
        (200, b'{"data": []}', "0 vectors for 1 texts"),
        (200, b'{"data": [{"index": 0, "embedding": []}]}', "unequal"),
    ],
)
async def test_a_bad_answer_is_one_sentence(status: int, body: bytes, told: str) -> None:
    async with embeddings_server(lambda _: (status, body)) as server:
        embedder = OpenAiEmbedder(server.url, "m", "a-secret-key")
        with pytest.raises(EmbeddingUnavailable) as caught:
            await embedder.embed(["x"])
        await embedder.close()
    assert told in str(caught.value)
    assert "a-secret-key" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


async def test_unequal_vectors_are_refused() -> None:
    def unequal(body: dict[str, Any]) -> tuple[int, bytes]:
        rows = [{"index": i, "embedding": [1.0] * (i + 1)} for i, _ in enumerate(body["input"])]
        return 200, json.dumps({"data": rows}).encode()

    async with embeddings_server(unequal) as server:
        embedder = OpenAiEmbedder(server.url, "m")
        with pytest.raises(EmbeddingUnavailable, match="unequal"):
            await embedder.embed(["x", "y"])
        await embedder.close()


async def test_vectors_of_another_length_than_before_are_refused() -> None:
    lengths = iter([3, 3, 4, 3])

    def changing(body: dict[str, Any]) -> tuple[int, bytes]:
        return 200, json.dumps({"data": [{"index": 0, "embedding": [1.0] * next(lengths)}]}).encode()

    async with embeddings_server(changing) as server:
        embedder = OpenAiEmbedder(server.url, "m")
        assert await embedder.embed(["x"]) == await embedder.embed(["y"]) == [[1.0, 1.0, 1.0]]
        with pytest.raises(EmbeddingUnavailable, match="sent 4 numbers where it sent 3 before"):
            await embedder.embed(["z"])
        assert await embedder.embed(["z"]) == [[1.0, 1.0, 1.0]]
        await embedder.close()


async def test_a_server_that_never_ends_its_answer_is_left() -> None:
    let_go = asyncio.Event()

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{")
        await let_go.wait()
        writer.close()

    async with await asyncio.start_server(drip, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        embedder = OpenAiEmbedder(f"http://127.0.0.1:{port}/v1", "m", seconds=0.2)
        with pytest.raises(EmbeddingUnavailable, match="does not answer"):
            await embedder.embed(["x"])
        await embedder.close()
        let_go.set()


async def test_a_server_that_is_not_there_is_named(unused_tcp_port: int) -> None:
    embedder = OpenAiEmbedder(f"http://127.0.0.1:{unused_tcp_port}/v1", "m")
    with pytest.raises(EmbeddingUnavailable, match=rf"127\.0\.0\.1:{unused_tcp_port}/v1/embeddings does not answer"):
        await embedder.embed(["x"])
    await embedder.close()


@pytest.mark.parametrize("key", ["sk-“curly”", "sk-two\nlines"])
async def test_a_key_that_no_header_can_hold_is_told_by_the_setting_that_names_it(key: str) -> None:
    embedder = OpenAiEmbedder("http://127.0.0.1:9/v1", "m", key)
    with pytest.raises(EmbeddingUnavailable, match=r"no key has.*embedding_key_env") as raised:
        await embedder.embed(["hello"])
    assert "sk-" not in str(raised.value)
    await embedder.close()


@pytest.mark.parametrize("url", ["http://exa\x00mple", "http://\udcff.example"])
async def test_an_address_that_is_none_is_told_by_its_setting(url: str) -> None:
    embedder = OpenAiEmbedder(url, "m")
    with pytest.raises(EmbeddingUnavailable, match="embedding_url"):
        await embedder.embed(["hello"])
    await embedder.close()
