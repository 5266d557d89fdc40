"""What the doctor asks of models: who would think, how much it reads, whether the key is taken, who makes vectors."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from agent.model.chain import Chain, Guarded
from agent.model.sight import sees
from agent.model.window import IN_OPENAI_WORDS, Window, learn_window, window_of
from appliance.config.agent.models import NamedModel
from appliance.config.load import Config
from appliance.doctor.examine import Check, Line, Verdict, told_by_service
from appliance.doctor.memory import chosen_model
from appliance.model.catalog import OTHER, ModelCatalog, catalog_of, provider_at, provider_of
from appliance.model.choose import OFFLINE, choose_models
from memory.json_value import Json, fields
from memory.trust import tls_fault, trust_for

if TYPE_CHECKING:
    from memory.vectors.embedding import Embedder

ANSWER_SECONDS: Final = 5.0
"""Within which a server tells its models."""

NAMES_SHOWN: Final = 5
"""Of the models that a server has."""

LONG_PREFIX: Final = 4700
SHORT_PREFIX: Final = 1550
"""Tokens of prompt and tools for a large window and a small one, by benchmarks/appliance/prompt_tokens.py."""

MOST_SHARE: Final = 50.0
"""Percent of a window that prompt and tools may take; with more a conversation is summed up all the time."""


class _Server(Struct, frozen=True):
    """A server to be asked something that costs nothing, and the settings that say where it is, for the fixes."""

    line: str
    """Whose line of the doctor it is."""
    address: str
    """For people."""
    url: str
    """What is asked for."""
    model: str
    """Which has to be among the models that it lists; "" where that is not asked for."""
    headers: Mapping[str, str]
    url_fix: str
    key_fix: str
    model_fix: str = ""


def embeddings(config: Config) -> Line:
    """Have the local model make a vector, or ask the API for its models, which costs nothing."""
    from appliance.wiring.memory.graph import choose_embedder

    settings = config.memory
    if settings.embeddings == "off" or not settings.enabled:
        return Line("embeddings", Verdict.OK, "switched off; the graph is searched by words")
    from appliance.model import sentence as sentence_model

    sentence = sentence_model.sentence_settings(config)
    if sentence.is_wanted and not sentence_model.is_here(sentence.models_folder):
        coming = "it is fetched in the background" if sentence.download else "the graph is searched by words"
        return Line(
            "embeddings",
            Verdict.OK,
            f"no sentence model here yet ({coming}): `nakari models pull {sentence_model.NAME}`",
        )
    embedder = choose_embedder(config)
    if settings.embeddings != "api":
        return Line("embeddings", Verdict.OK, asyncio.run(_make_vector(embedder)))
    key = config.revealed(settings.embedding_key_env)
    server = _Server(
        "embeddings",
        settings.embedding_url,
        f"{settings.embedding_url.rstrip('/')}/models",
        settings.embedding_model,
        OTHER.headers_with(key) if key else {},
        "start that server, or correct [memory] embedding_url",
        "correct it; see [memory] embedding_key_env",
        "correct [memory] embedding_model",
    )
    return asyncio.run(_ask(server))


def model(config: Config) -> Line:
    """Find out who would think, try what each needs that may be asked (its server, its key), and what failed last."""
    line = asyncio.run(_model(catalog_of(config), config.state_folder))
    return judge_failures(line, told_by_service(config.sockets, "models").get("failed"), config.zone)


def judge_failures(line: Line, failed: Json, zone: tzinfo) -> Line:
    """Warn of the models whose last call came to nothing, as the running service tells, though their servers answer.

    `zone` is where the household lives.
    """
    told = [
        f"{alias} failed at {datetime.fromisoformat(str(each['at'])).astimezone(zone):%Y-%m-%d %H:%M}: {each['reason']}"
        for alias, each in fields(failed).items()
        if isinstance(each, dict)
    ]
    if not told:
        return line
    fix = line.fix or "mend what it says; the line goes with the next answer"
    return Line(line.name, max(line.verdict, Verdict.WARNING), "; ".join([line.what, *told]), fix)


async def models_in_use(catalog: ModelCatalog, state_folder: Path) -> Chain:
    """Return the models as the service would ask them, the one that `nakari model use` chose first.

    Raises `ConfigError` for a choice that lacks something, `StateUnusable` where nobody can tell what was chosen.
    """
    models = await choose_models(catalog)
    chosen = chosen_model(state_folder)
    if chosen in models.aliases:
        models.use(chosen)
        models.settle()
    return models


async def _model(catalog: ModelCatalog, state_folder: Path) -> Line:
    async with _opened(catalog, state_folder) as models, asyncio.TaskGroup() as group:
        tried = [group.create_task(_try(catalog, each), name=each.name) for each in models.may_think[:-1]]
    if lines := [task.result() for task in tried]:
        fixes = "; ".join(line.fix for line in lines if line.fix)
        return Line("model", max(line.verdict for line in lines), "; ".join(line.what for line in lines), fixes)
    if OFFLINE in (catalog.model.provider, chosen_model(state_folder)):
        return Line("model", Verdict.OK, "offline, as it is set")
    what = "none: nakari knows time, date, timers, volume and what it was told to remember"
    return Line("model", Verdict.WARNING, what, "start Ollama or llama.cpp here, or set a provider's key; see [model]")


async def _try(catalog: ModelCatalog, chosen: Guarded) -> Line:
    from agent.model.litellm import LiteLlmModel, is_installed

    settings = catalog.models.get(chosen.alias, catalog.model)
    if isinstance(chosen.model, LiteLlmModel) and not is_installed():
        what = f"litellm, the extra cloud, by which {chosen.name} is asked, is not installed"
        return Line("model", Verdict.FAULT, what, "run scripts/setup")
    if isinstance(chosen.model, LiteLlmModel):
        return await _try_key(catalog, chosen.name, settings)
    if not settings.base_url:
        return Line("model", Verdict.OK, f"{chosen.name}, its server answers")  # that is how it was found
    provider = provider_at(settings.base_url)
    key = catalog.key_for(provider.key, settings)
    section = f"[models.{chosen.alias}]" if chosen.alias in catalog.models else "[model]"
    server = _Server(
        "model",
        settings.base_url,
        settings.base_url.rstrip("/") + (OTHER if provider.key_header != OTHER.key_header else provider).free_request,
        settings.name,
        OTHER.headers_with(key) if key else {},
        f"start that server, or correct {section} base_url",
        f"correct it; see {section} api_key_env",
        f"correct {section} name",
    )
    return await _ask(server)


async def _try_key(catalog: ModelCatalog, name: str, settings: NamedModel) -> Line:
    """Try the key of a provider with a request that costs nothing, where one is known."""
    provider = provider_of(name)
    key = catalog.key_for(provider.key, settings)
    if provider.key and not key and not settings.base_url:
        return Line(
            "model", Verdict.FAULT, f"there is no key for {name}", f"set {settings.api_key_env or provider.key}"
        )
    if provider is OTHER:
        return Line("model", Verdict.OK, f"{name}; its provider is not asked: every request there may cost")
    address = settings.base_url or provider.address
    server = _Server(
        "model",
        f"the provider of {name}",
        address.rstrip("/") + provider.free_request,
        "",
        provider.headers_with(key),
        "look at the network; the offline model answers until then",
        f"set {settings.api_key_env or provider.key} anew",
    )
    line = await _ask(server)
    if line.verdict is Verdict.OK:
        return Line("model", Verdict.OK, f"{name}, its provider takes the key")
    return line


async def _ask(server: _Server) -> Line:
    """Ask a server for what costs nothing: who answers that is there, and takes the key."""
    import httpx

    try:
        async with (
            asyncio.timeout(ANSWER_SECONDS),
            httpx.AsyncClient(
                trust_env=False,
                timeout=ANSWER_SECONDS,
                headers=server.headers,
                verify=trust_for(server.url),
            ) as client,
        ):
            answer = await client.get(server.url)
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
        what, fix = tls_fault(error) or (f"does not answer ({type(error).__name__})", server.url_fix)
        return Line(server.line, Verdict.FAULT, f"{server.address} {what}", fix)
    is_googles = answer.status_code == 400 and "key" in answer.text.lower()  # what Google says of a wrong key
    if is_googles or answer.status_code in (401, 403):
        return Line(server.line, Verdict.FAULT, f"{server.address} refuses the key", server.key_fix)
    if answer.status_code >= 500:
        what = f"{server.address} is in trouble (status {answer.status_code})"
        return Line(server.line, Verdict.FAULT, what, "look at that server's own log, or try again later")
    return judge_models(server.line, server.model, _listed(answer.text), server.model_fix)


def judge_models(name: str, wanted: str, listed: Sequence[str], fix: str) -> Line:
    """Judge a server that answers by the models it lists; some list none, and some more than they name."""
    if not wanted or not listed or wanted in (*listed, *(each.removesuffix(":latest") for each in listed)):
        return Line(name, Verdict.OK, f"{wanted}, its server answers")
    shown = ", ".join(listed[:NAMES_SHOWN]) + (", …" if len(listed) > NAMES_SHOWN else "")
    return Line(name, Verdict.WARNING, f"its server answers and does not list {wanted}; it has {shown}", fix)


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


def window(config: Config) -> Line:
    """Tell how much the model that thinks reads, who said so, and what prompt and tools take of it.

    By the running service, else by its server; what prompt and tools take is then an estimate of those that come.
    """
    told = told_by_service(config.sockets, "models").get("window")
    if isinstance(told, dict) and told.get("tokens"):
        known = Window(int(str(told["tokens"])), str(told.get("source")))
        return judge_window(known, int(str(told.get("prefix") or 0)))
    return judge_window(asyncio.run(_window(catalog_of(config), config.state_folder)))


async def _window(catalog: ModelCatalog, state_folder: Path) -> Window:
    async with _opened(catalog, state_folder) as models:
        await learn_window(models.first.model)
        return window_of(models.first.model)


def images(config: Config) -> Line:
    """Tell whether the model that thinks sees images: by the running service, else by its server or litellm's table."""
    told = told_by_service(config.sockets, "models").get("sees")
    return judge_sight(told if isinstance(told, bool) else asyncio.run(_sees(catalog_of(config), config.state_folder)))


async def _sees(catalog: ModelCatalog, state_folder: Path) -> bool | None:
    async with _opened(catalog, state_folder) as models:
        return await sees(models.first.model)


def judge_sight(is_seeing: bool | None) -> Line:
    """Say what becomes of an image that somebody attaches; None where nobody knows whether the model sees."""
    if is_seeing:
        return Line("images", Verdict.OK, "the model that thinks sees images that are attached")
    told = "is told of an image that is attached, and does not see it"
    if is_seeing is None:
        what = f'nobody says whether the model sees images: it {told}, until vision = "yes" is set in [model]'
        return Line("images", Verdict.OK, what)
    return Line("images", Verdict.OK, f"the model that thinks reads text only: it {told}")


@asynccontextmanager
async def _opened(catalog: ModelCatalog, state_folder: Path) -> AsyncIterator[Chain]:
    """Give the models as the service would ask them; they are closed after the block."""
    models = await models_in_use(catalog, state_folder)
    try:
        yield models
    finally:
        for each in models.models:
            await each.aclose()


def judge_window(known: Window, prefix: int = 0) -> Line:
    """Judge a window by what goes of it before the first word; `prefix` is in tokens, 0 where nobody counted it."""
    if not known.tokens:
        what = "nobody says how much the model reads; it is learnt from refusals, or set in [model] context_tokens"
        return Line("window", Verdict.OK, what)
    taken = prefix or (SHORT_PREFIX if known.is_small else LONG_PREFIX)
    about = "" if prefix else "about "
    share = 100 * taken / known.tokens
    what = f"prompt and tools take {about}{taken:,} of {known.tokens:,} tokens: {share:.0f} % ({known.source})"
    if known.source == IN_OPENAI_WORDS:
        return Line("window", Verdict.WARNING, what, 'set profile = "ollama" in [model], so that it can be given more')
    if share <= MOST_SHARE:
        return Line("window", Verdict.OK, what)
    fix = "have its server read more (llama.cpp: -c, vLLM: --max-model-len, Ollama: [model] context_tokens)"
    return Line("window", Verdict.WARNING, what, f"{fix}, or offer fewer tools")


CHECKS: tuple[Check, ...] = (embeddings, model, window, images)
