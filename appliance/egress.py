"""What leaves this machine: gathered from what each adapter in use declares, with the setting that stops it."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from ipaddress import ip_address
from typing import Protocol
from urllib.parse import urlsplit

from msgspec import Struct

import audio.egress
import memory.egress
from agent.model.chain import Chain
from appliance.config.load import Config
from appliance.config.network.http import WyomingSettings, is_loopback
from appliance.config.values import listed
from appliance.errors import ConfigError
from appliance.model.catalog import ModelCatalog, catalog_of
from audio.errors import ModelNotFound
from audio.recognizer.models.hub import HubModel
from memory.errors import EngineFailure


class Egress(Struct, frozen=True):
    """Something that leaves this machine."""

    what: str
    """A noun phrase: "what nakari says"."""
    to: str
    """A host, or the name of a service."""
    setting: str
    """Which setting has it so: "[voice] engines"."""
    is_certain: bool = True
    """False where a program on this machine is given it, which may send it on."""

    def __str__(self) -> str:
        """Return it for people."""
        return f"{self.what}, to {self.to} ({self.setting})"


class Adapter(Protocol):
    """Whatever may call out: a voice, a recognizer, a model, an embedder, a store, a server of tools, a download."""

    @property
    def sends_to(self) -> Sequence[audio.egress.SendsTo | memory.egress.SendsTo]:
        """What it hands to other machines; () for nothing."""


def is_here(host: str) -> bool:
    """Whether a host, with or without a port, is this machine; a name that only looks like a loopback address is not.

    The name of a service is no host.
    """
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


def lasting_egress(config: Config) -> list[Egress]:
    """Return what leaves this machine for as long as the configuration stays: all but models and their downloads."""
    return list(_gathered([*_lasting(config), *_satellites(config)]))


def model_egress(catalog: ModelCatalog, models: Chain) -> list[Egress]:
    """Return what the model that thinks is given, and those that stand in for it."""
    return list(_gathered(_models(catalog, models)))


def egress(config: Config, models: Chain) -> list[Egress]:
    """Return all that leaves this machine with this configuration and these models. Loads nothing, asks nobody."""
    downloads = _gathered(("[ears] download", download) for download in downloads_of(config))
    return [*model_egress(catalog_of(config), models), *lasting_egress(config), *downloads]


def downloads_of(config: Config) -> list[HubModel]:
    """Return the models that are to be fetched, and are not here."""
    from appliance.input.whisper.choice import wanted_download, whisper_settings
    from appliance.model.sentence import sentence_settings, wanted

    if not config.ears.download:
        return []
    is_to_hear = "whisper" in config.ears.engines
    whisper = wanted_download(whisper_settings(config)) if is_to_hear else None
    is_sentence_lacking = sentence_settings(config).is_to_be_fetched
    return [*([whisper] if whisper else []), *([wanted()] if is_sentence_lacking else [])]


def _gathered(used: Iterable[tuple[str, Adapter]]) -> Iterator[Egress]:
    for setting, adapter in used:
        for sent in adapter.sends_to:
            if not is_here(sent.to):
                yield Egress(sent.what, sent.to, setting, sent.is_certain)


def _lasting(config: Config) -> Iterator[tuple[str, Adapter]]:
    """Yield each adapter that this configuration uses, with the setting that chooses it."""
    from appliance.input.hearing.choose import choose_recognizer, hearing_settings
    from appliance.output.voices import speech_settings, voices_of
    from appliance.wiring.agent.calendars import about_of
    from appliance.wiring.agent.home import home_of
    from appliance.wiring.agent.tool_servers import servers_of
    from appliance.wiring.agent.web import engine_of, pages_of, weather_of
    from appliance.wiring.memory.graph import choose_embedder, store_of

    for voice in voices_of(speech_settings(config)):
        yield "[voice] engines", voice
    with suppress(ModelNotFound):  # nothing is recognized with a model that nobody knows
        yield "[ears] engines", choose_recognizer(hearing_settings(config), tells=False).recognizer
    if config.memory.enabled:
        yield "[memory] uri", store_of(config)
        with suppress(ConfigError):  # nothing is compared with an embedder that lacks a setting
            yield "[memory] embeddings", choose_embedder(config)
    for server in servers_of(config):
        yield f"[mcp.{server.name}]", server
    with suppress(ConfigError):  # nobody searches with an engine that lacks its address
        if engine := engine_of(config):
            yield "[web] search", engine
    if pages := pages_of(config):
        yield "[web] read_pages", pages
    if weather := weather_of(config):
        yield "[weather] enabled", weather
    for name in config.calendar:
        if (about := about_of(config, name)) is not None:
            yield f"[calendar.{name}]", about.source
    if (home := home_of(config)) is not None:
        yield "[home] url", home
    yield from _asked_from_elsewhere(config.wyoming)
    yield from _between_machines(config)


def _between_machines(config: Config) -> Iterator[tuple[str, Adapter]]:
    if config.machines.url:
        from appliance.wiring.machines.engine import engine_of

        with suppress(EngineFailure):  # nothing is sent where its client is missing
            yield "[machines] url", engine_of(config)


def _asked_from_elsewhere(wyoming: WyomingSettings) -> Iterator[tuple[str, Adapter]]:
    from appliance.wyoming.guests import guests_of

    if wyoming.listen and not is_loopback(wyoming.listen):
        yield "[wyoming] networks", guests_of(wyoming.networks)


def _satellites(config: Config) -> list[tuple[str, Adapter]]:
    """Return the satellites that are paired; none where they are off, or their list is damaged."""
    from appliance.satellites.errors import SatellitesDamaged
    from appliance.satellites.paired import PairedList

    if not config.satellites.enabled:
        return []
    try:
        return [("nakari satellite add", each) for each in PairedList(config.state_folder).read()]
    except SatellitesDamaged:  # `nakari doctor` tells of it
        return []


def _models(catalog: ModelCatalog, models: Chain) -> Iterator[tuple[str, Adapter]]:
    named = (*listed(catalog.model.use), *listed(catalog.model.fallbacks))
    for model in models.may_think:
        if model.alias not in catalog.models:
            yield "[model]", model
        elif model is models.first and model.alias not in named:
            yield f"[models.{model.alias}], chosen with `nakari model use`", model
        else:
            yield f"[models.{model.alias}]", model
