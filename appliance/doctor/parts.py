"""What the doctor looks at of the mind: embeddings, model, running service."""

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from agent.model.interface import ChatModel
from appliance.config.load import PROVIDER_KEYS, Config, Secret
from appliance.doctor.examine import Check, Line, Verdict
from appliance.errors import ServiceNotRunning

if TYPE_CHECKING:
    from memory.vectors.embedding import Embedder

ANSWER_SECONDS: Final = 5.0
"""Within which a server tells its models."""

NAMES_SHOWN: Final = 5
"""Of the models that a server has."""

_KEY_OF: Final = {name.partition("_")[0].lower(): name for name in PROVIDER_KEYS}
"""The prefix of a model's name at litellm, and the key that its provider wants."""


class _Settings(NamedTuple):
    """The settings that say where a server is, for the fixes."""

    url: str
    key: str
    model: str


MODEL_SETTINGS: Final = _Settings("[model] base_url", "[model] api_key_env", "[model] name")
EMBEDDING_SETTINGS: Final = _Settings(
    "[memory] embedding_url", "[memory] embedding_key_env", "[memory] embedding_model"
)


@dataclass(frozen=True, slots=True)
class _Server:
    """A server that speaks OpenAI's protocol, to be asked for its models."""

    line: str
    """Whose line of the doctor it is."""
    url: str
    model: str
    key: Secret | None
    settings: _Settings


def embeddings(config: Config) -> Line:
    """Have the local model make a vector, or ask the API for its models, which costs nothing."""
    from appliance.wiring.graph import choose_embedder

    settings = config.memory
    if settings.embeddings == "off" or not settings.enabled:
        return Line("embeddings", Verdict.OK, "switched off; she searches her graph by words")
    from appliance.model import sentence as sentence_model

    if sentence_model.is_wanted(config) and not sentence_model.is_here(config):
        coming = "it is fetched in the background" if config.ears.download else "she searches by words"
        return Line(
            "embeddings",
            Verdict.OK,
            f"no sentence model here yet ({coming}): `nakari models pull {sentence_model.NAME}`",
        )
    embedder = choose_embedder(config)
    if settings.embeddings == "api":
        server = _Server(
            "embeddings", settings.embedding_url, settings.embedding_model, config.embedding_key, EMBEDDING_SETTINGS
        )
        return asyncio.run(_ask_models(server))
    return Line("embeddings", Verdict.OK, asyncio.run(_make_vector(embedder)))


def model(config: Config) -> Line:
    """Find out who would think, and whether a server that was configured answers."""
    return asyncio.run(_model(config))


def service(config: Config) -> Line:
    """Ask the running service how it is."""
    from appliance.api.client import find_service, status_of

    try:
        path = find_service(config.sockets)
    except ServiceNotRunning:
        return Line("service", Verdict.OK, "not running")
    began = time.monotonic()
    asyncio.run(status_of(path))
    return Line("service", Verdict.OK, f"running, answers at {path} in {time.monotonic() - began:.3f} s")


def judge_models(name: str, wanted: str, listed: Sequence[str], fix: str) -> Line:
    """Judge a server that answers by the models it lists; some list none, and some more than they name."""
    if not listed or wanted in (*listed, *(each.removesuffix(":latest") for each in listed)):
        return Line(name, Verdict.OK, f"{wanted}, its server answers")
    shown = ", ".join(listed[:NAMES_SHOWN]) + (", …" if len(listed) > NAMES_SHOWN else "")
    return Line(name, Verdict.WARNING, f"its server answers and does not list {wanted}; it has {shown}", fix)


async def _model(config: Config) -> Line:
    from appliance.model.choose import choose_models

    models = await choose_models(config)
    try:
        if len(models) > 1:
            return await _thinker(config, models[0])
    finally:
        for chosen in models:
            await chosen.aclose()
    if config.model.provider == "offline":
        return Line("model", Verdict.OK, "offline, as it is set")
    what = "none: she knows time, date, timers, volume and what you told her to remember"
    return Line("model", Verdict.WARNING, what, "start Ollama or llama.cpp here, or set a provider's key; see [model]")


async def _thinker(config: Config, chosen: ChatModel) -> Line:
    from agent.model.chain import Guarded
    from agent.model.litellm import LiteLlmModel

    settings = config.model
    if isinstance(chosen.model if isinstance(chosen, Guarded) else chosen, LiteLlmModel):
        wanted = _KEY_OF.get(chosen.name.partition("/")[0])
        if wanted and not settings.api_key_env and wanted not in config.secrets:
            return Line("model", Verdict.FAULT, f"there is no key for {chosen.name}", f"set {wanted}, or [model] name")
        return Line("model", Verdict.OK, f"{chosen.name}; its provider is not asked now, that may cost")
    if not settings.base_url:
        return Line("model", Verdict.OK, f"{chosen.name}, its server answers")  # that is how it was found
    key = next(iter(config.provider_keys.values()), None)
    return await _ask_models(_Server("model", settings.base_url, settings.name, key, MODEL_SETTINGS))


async def _ask_models(server: _Server) -> Line:
    """Ask a server for its models: who answers that is there, and it costs nothing."""
    import httpx

    headers = {"Authorization": f"Bearer {server.key.reveal()}"} if server.key else {}
    try:
        async with (
            asyncio.timeout(ANSWER_SECONDS),
            httpx.AsyncClient(trust_env=False, timeout=ANSWER_SECONDS, headers=headers) as client,
        ):
            answer = await client.get(f"{server.url.rstrip('/')}/models")
    except (httpx.HTTPError, TimeoutError) as error:
        what = f"{server.url} does not answer ({type(error).__name__})"
        return Line(server.line, Verdict.FAULT, what, f"start that server, or correct {server.settings.url}")
    if answer.status_code in (401, 403):
        return Line(
            server.line, Verdict.FAULT, f"{server.url} refuses the key", f"correct it; see {server.settings.key}"
        )
    if answer.status_code >= 500:
        what = f"{server.url} is in trouble (status {answer.status_code})"
        return Line(server.line, Verdict.FAULT, what, "look at that server's own log")
    return judge_models(server.line, server.model, _listed(answer.text), f"correct {server.settings.model}")


def _listed(body: str) -> list[str]:
    """Return the names of the models in an answer; none where it is no list of models."""
    try:
        return [str(each["id"]) for each in json.loads(body)["data"]]
    except (ValueError, LookupError, TypeError):
        return []


async def _make_vector(embedder: "Embedder") -> str:
    try:
        await embedder.embed(["a"])  # loads it
        began = time.monotonic()
        [vector] = await embedder.embed(["Where did we put the spare key?"])
        return f"{embedder.name} makes {len(vector)} numbers of a sentence in {time.monotonic() - began:.3f} s"
    finally:
        await embedder.close()


PARTS: tuple[Check, ...] = (embeddings, model, service)
