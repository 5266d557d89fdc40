"""Embedders, and the handles that stand for vectors so that none enters a context."""

import asyncio
import hashlib
import math
import re
from array import array
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias
from weakref import WeakValueDictionary

from memory.egress import SendsTo, host_of
from memory.errors import EmbeddingUnavailable, GraphRefused
from memory.trust import tls_fault, trust_for

if TYPE_CHECKING:
    import httpx

PREFIX: Final = "vector_"
DIGITS: Final = 12
"""Hexadecimal digits of a handle: 48 bits of the text's SHA-256."""

_HANDLE: Final = re.compile(rf"{PREFIX}[0-9a-f]{{{DIGITS}}}")

KEPT: Final = 256
"""Vectors in memory, the last used ones: 3 MB at 1536 numbers."""

SECONDS: Final = 10.0
"""For an answer of an embeddings server."""

SHOWN: Final = 200
"""Characters of a server's own words in an error."""

Use: TypeAlias = Literal["text", "query", "passage"]
"""What a text's vector is compared with: those of any texts, of passages that may answer it, of queries for it. Models
that are made for search tell the three apart."""


class Embedder(Protocol):
    """Makes vectors of texts. Guarantees: the same length always, in the order of the texts."""

    @property
    def name(self) -> str:
        """Which model; vectors of different names do not compare."""

    @property
    def sends_to(self) -> tuple[SendsTo, ...]:
        """What it hands to other machines, by its own settings; () for nothing. Told before it is used."""

    @property
    def is_for_search(self) -> bool:
        """Whether it tells queries from passages, so that what is near a question is likely its answer."""

    async def embed(self, texts: Sequence[str], use: Use = "text") -> list[list[float]]:
        """Return one vector a text. Raises `EmbeddingUnavailable`."""

    async def close(self) -> None:
        """Let go of thread or connections; not used after."""


class NoEmbedder:
    """Where no model is set up."""

    name = "none"
    sends_to = ()
    is_for_search = False

    async def embed(self, texts: Sequence[str], use: Use = "text") -> list[list[float]]:
        """Raise `EmbeddingUnavailable` and say how to do without."""
        del texts, use
        raise EmbeddingUnavailable(
            'there is no embedding model here ([memory] embeddings = "auto", "local" or "api" sets one); '
            "everything else works: search by words, toLower(n.x) CONTAINS toLower($words)"
        )

    async def close(self) -> None:
        """Do nothing."""


class OpenAiEmbedder:
    """A model behind an OpenAI-compatible `/embeddings` endpoint: OpenAI, Ollama, llama.cpp, vLLM and others.

    Nobody knows here what it was made for: its nearest texts come behind what has the words.
    """

    is_for_search = False

    def __init__(self, url: str, model: str, key: str = "", seconds: float = SECONDS) -> None:
        """`url` is the API's root, ending in `/v1` with most servers; an answer may take `seconds` as a whole."""
        import httpx

        self.name = model
        self.sends_to = (SendsTo("texts that are compared by meaning", host_of(url)),)
        self._url = url.rstrip("/") + "/embeddings"
        self._key = key
        self._has_sendable_key = key.isascii() and key.isprintable()
        self._seconds = seconds
        self._dimensions = 0
        """Of the vectors that came so far; 0 before the first."""
        self._client = httpx.AsyncClient(
            timeout=seconds,
            headers={"Authorization": f"Bearer {key}"} if key and self._has_sendable_key else {},
            follow_redirects=False,
            trust_env=False,
            verify=trust_for(self._url),
        )

    async def embed(self, texts: Sequence[str], use: Use = "text") -> list[list[float]]:
        """Return one vector a text, in one request, the same for every use. Raises `EmbeddingUnavailable`."""
        import httpx

        del use  # the API has no word for it
        if not self._has_sendable_key:
            raise EmbeddingUnavailable(
                "the key of the embeddings server holds a character that no key has, such as a curly quote: "
                "set what [memory] embedding_key_env names anew"
            )
        try:
            async with asyncio.timeout(self._seconds):  # httpx counts each read for itself
                answer = await self._client.post(self._url, json={"model": self.name, "input": list(texts)})
        except (httpx.InvalidURL, UnicodeError) as error:
            raise EmbeddingUnavailable(
                f"{self._url} is no address of a server ({error}): correct [memory] embedding_url"
            ) from error
        except (httpx.HTTPError, TimeoutError) as error:
            if fault := tls_fault(error):
                raise EmbeddingUnavailable(f"the embeddings server {self._url} {fault[0]}: {fault[1]}") from error
            reason = str(error) or type(error).__name__
            raise EmbeddingUnavailable(f"the embeddings server {self._url} does not answer ({reason})") from error
        if not answer.is_success:
            raise EmbeddingUnavailable(self._refusal(answer.status_code, answer.text))
        vectors = _vectors(answer, len(texts))
        dimensions = len(vectors[0]) if vectors else self._dimensions
        if self._dimensions not in (0, dimensions):
            raise EmbeddingUnavailable(
                f"the embeddings server sent {dimensions} numbers where it sent {self._dimensions} before: "
                "has it changed its model? Vectors of two models do not compare"
            )
        self._dimensions = dimensions
        return vectors

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    def _refusal(self, status: int, body: str) -> str:
        said = " ".join(body.split())[:SHOWN]
        if self._key:
            said = said.replace(self._key, "***")
        return f"the embeddings server refuses ({status}: {said}): {_fix_for(status)}"


def _fix_for(status: int) -> str:
    if status in (401, 403):
        return "check the key that [memory] embedding_key_env names"
    if status == 429:
        return "it has had enough for now; try again later"
    if status >= 500:
        return "the trouble is on its side; try again later"
    return "check [memory] embedding_url and embedding_model"


class Handles:
    """Vectors by the name of their text. The same text has the same handle for ever, also after a restart.

    Were handles counted, one in an older context would come to mean another vector.
    """

    def __init__(self, embedder: Embedder, kept: int = KEPT) -> None:
        self._embedder = embedder
        self._kept = kept
        self._vectors: OrderedDict[str, array[float]] = OrderedDict()
        self._computing: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def embed(self, text: str) -> str:
        """Return the handle of a text, computing its vector unless it is still kept.

        Raises `EmbeddingUnavailable`.
        """
        handle = handle_of(text, self._embedder.name)
        computing = self._computing.setdefault(handle, asyncio.Lock())
        async with computing:  # two tool calls side by side may ask for the same text
            if handle not in self._vectors:
                [vector] = await self._embedder.embed([text])
                self._vectors[handle] = array("d", vector)
        self._vectors.move_to_end(handle)
        while len(self._vectors) > self._kept:
            self._vectors.popitem(last=False)
        return handle

    def bind(self, params: Mapping[str, object], used: Sequence[str]) -> dict[str, object]:
        """Return the parameters with vectors in the place of handles.

        `used` are the parameters that the statement names: a handle among them needs no entry in `params`. A value that
        is a handle, with or without $, is replaced wherever it stands, in rows too. Raises `GraphRefused` for a handle
        whose vector is not kept any more.
        """
        named = {name: name for name in used if _HANDLE.fullmatch(name) and name not in params}
        return {name: self._bound(value) for name, value in {**params, **named}.items()}

    def _bound(self, value: object) -> object:
        match value:
            case str() if _HANDLE.fullmatch(value.removeprefix("$")):
                return self._vector(value.removeprefix("$"))
            case Mapping():
                return {key: self._bound(item) for key, item in value.items()}
            case list():
                return [self._bound(item) for item in value]
        return value

    def _vector(self, handle: str) -> list[float]:
        if handle not in self._vectors:
            raise GraphRefused(
                f"{handle} is not kept any more: call embedding with its text again, the handle is the same"
            )
        self._vectors.move_to_end(handle)
        return self._vectors[handle].tolist()


def handle_of(text: str, model: str) -> str:
    """Return the handle of a text's vector by a model."""
    digest = hashlib.sha256(f"{model}\0{text}".encode(errors="surrogatepass")).hexdigest()
    return PREFIX + digest[:DIGITS]


def _vectors(answer: "httpx.Response", count: int) -> list[list[float]]:
    try:
        rows = sorted(answer.json()["data"], key=lambda row: int(row["index"]))
        vectors = [[float(number) for number in row["embedding"]] for row in rows]
    except (ValueError, KeyError, TypeError) as error:
        raise EmbeddingUnavailable(f"what the embeddings server sent is no list of vectors ({error})") from error
    if len(vectors) != count or len({len(vector) for vector in vectors}) > 1 or not all(vectors):
        raise EmbeddingUnavailable(
            f"the embeddings server sent {len(vectors)} vectors for {count} texts, or unequal ones"
        )
    if not all(math.isfinite(number) for vector in vectors for number in vector):
        raise EmbeddingUnavailable("the embeddings server sent a vector with a number that is none")
    return vectors
