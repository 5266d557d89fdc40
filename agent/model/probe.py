"""Looks for a model server on this machine: Ollama or llama.cpp."""

import asyncio
from collections.abc import Awaitable, Sequence
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from urllib.parse import urlsplit

from msgspec import Struct

if TYPE_CHECKING:
    import httpx

MODELS_LOOKED_AT = 8
"""Installed models of Ollama that are asked whether they can call tools, newest first."""

Kind: TypeAlias = Literal["ollama", "llama.cpp"]
"""Which program it is, by the name of its profile."""


class Candidate(Struct, frozen=True):
    """An address at which a server may listen."""

    url: str
    """Without path; its host must be a loopback address."""
    kind: Kind


class Found(Struct, frozen=True):
    """A server that answered, as `OpenAiCompatibleModel` takes it."""

    base_url: str
    model: str
    kind: Kind


DEFAULT_CANDIDATES = (Candidate("http://127.0.0.1:11434", "ollama"), Candidate("http://127.0.0.1:8080", "llama.cpp"))
"""The ports both programs use when nothing else is said."""


async def find_local_server(candidates: Sequence[Candidate] = DEFAULT_CANDIDATES, seconds: float = 0.3) -> Found | None:
    """Return the first candidate that serves a model fit for us, None if there is none.

    All are asked at once; `seconds` is the whole time it may take. Raises ValueError for an address that is not of this
    machine.
    """
    for candidate in candidates:
        if not _is_loopback(candidate.url):
            raise ValueError(f"{candidate.url} is not on this machine")
    addresses = [urlsplit(candidate.url) for candidate in candidates]
    open_ports = await asyncio.gather(*(connects(each.hostname or "", each.port or 0, seconds) for each in addresses))
    listening = [candidate for candidate, is_open in zip(candidates, open_ports, strict=True) if is_open]
    if not listening:
        return None
    import httpx  # here, because it costs 70 ms of a start on a machine where nothing listens

    async with httpx.AsyncClient(verify=False, trust_env=False, timeout=seconds) as client:
        found = await asyncio.gather(*(_ask(client, candidate, seconds) for candidate in listening))
    return next(filter(None, found), None)


async def connects(host: str, port: int, seconds: float) -> bool:
    """Whether a connection stands within so many seconds."""
    try:
        async with asyncio.timeout(seconds):
            _, writer = await asyncio.open_connection(host, port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


async def _ask(client: "httpx.AsyncClient", candidate: Candidate, seconds: float) -> Found | None:
    import httpx

    find = _model_of_ollama if candidate.kind == "ollama" else _model_of_llama_cpp
    try:
        async with asyncio.timeout(seconds):
            model = await find(client, candidate.url)
    except (httpx.HTTPError, TimeoutError, ValueError, LookupError, TypeError, AttributeError):
        return None  # nothing there, or something else that listens on this port
    return Found(f"{candidate.url}/v1", model, candidate.kind) if model else None


async def _model_of_ollama(client: "httpx.AsyncClient", url: str) -> str:
    """Return the newest installed model that can call tools; where Ollama is too old to say, any but embeddings."""
    listed = await _json(client.get(f"{url}/api/tags"))
    names = [model["name"] for model in listed["models"][:MODELS_LOOKED_AT]]
    told = await asyncio.gather(*(_json(client.post(f"{url}/api/show", json={"model": name})) for name in names))
    abilities = [model.get("capabilities") for model in told]
    able = [name for name, has in zip(names, abilities, strict=True) if has is not None and "tools" in has]
    silent = [name for name, has in zip(names, abilities, strict=True) if has is None and "embed" not in name]
    return next(iter([*able, *silent]), "")


async def _model_of_llama_cpp(client: "httpx.AsyncClient", url: str) -> str:
    listed = await _json(client.get(f"{url}/v1/models"))
    name = listed["data"][0]["id"]
    return name if isinstance(name, str) else ""


async def _json(asking: "Awaitable[httpx.Response]") -> dict[str, Any]:
    response = await asking
    response.raise_for_status()
    body: dict[str, Any] = response.json()
    return body
