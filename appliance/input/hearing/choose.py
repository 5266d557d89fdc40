"""The recognizers, chosen: one, or a chain of them in the configured order."""

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from appliance.config.load import Config, Secret
from appliance.config.sound import (
    OpenAiRecognizerSettings,
    RecognizerName,
    StreamingRecognizerSettings,
    WyomingRecognizerSettings,
)
from appliance.input.whisper.choice import WhisperSettings, whisper_settings
from appliance.input.whisper.recognizers import NEXT, WhisperHearing, choose_whisper, last_resort
from audio.interfaces import Recognizer, RemoteRecognizer, StreamingRecognizer, WordVerifier
from audio.recognizer.chain import RecognizerChain
from audio.recognizer.faster_whisper import Hotwords, expecting, no_hotwords
from audio.recognizer.openai_api import OpenAiRecognizer
from audio.recognizer.sherpa_onnx import SherpaRecognizer
from audio.recognizer.wrapped import LoadedAhead
from audio.recognizer.wyoming import WyomingRecognizer
from audio.wyoming import server_at


class HearingSettings(Struct, frozen=True):
    """Who is to hear."""

    engines: Sequence[RecognizerName]
    """The first to be asked first; not empty."""
    patience: float
    """Seconds that each may take beyond what the length of an utterance allows."""
    whisper: WhisperSettings
    streaming: StreamingRecognizerSettings
    openai: OpenAiRecognizerSettings
    openai_key: Secret | None
    wyoming: WyomingRecognizerSettings


def hearing_settings(config: Config) -> HearingSettings:
    """Return what the configuration says of recognizers."""
    return HearingSettings(
        config.ears.engines,
        config.ears.patience,
        whisper_settings(config),
        config.streaming_recognizer,
        config.openai_recognizer,
        config.recognizer_key,
        config.wyoming_recognizer,
    )


HERE: Final = frozenset({"whisper", "streaming"})
"""Recognizers of this machine."""

WYOMING_PORT: Final = 10300
"""Of wyoming-faster-whisper, where an address names none."""


class Hearing(Struct):
    """The recognizer, and what keeps it ready."""

    recognizer: Recognizer
    whisper: WhisperHearing | None = None
    """How a better model comes; None where Whisper is not to hear."""
    streaming: StreamingRecognizer | None = None
    """Who follows what is said while it is said: a member of the chain, None where none does."""
    _loading: LoadedAhead | None = None
    _one: threading.Lock = field(default_factory=threading.Lock)

    @property
    def verifier(self) -> WordVerifier | None:
        """Who can say how likely a word is; None where nobody on this machine does."""
        return self.whisper.recognizer if self.whisper is not None else None

    def load(self) -> Recognizer:
        """Return the recognizer, which loads from the first call on, in a thread of its own. From any thread."""
        with self._one:
            if self._loading is None:
                self._loading = LoadedAhead(self.recognizer)
            return self._loading

    async def improve(self) -> None:
        """Fetch or measure Whisper models, and change over to what comes of it, until nothing is left to do."""
        if self.whisper is not None:
            await self.whisper.improve()

    def prewarm(self) -> None:
        """Open the connection that the next utterance needs, if any. Blocking, short."""
        if isinstance(self.recognizer, RecognizerChain):
            self.recognizer.prewarm()

    def describe(self) -> Mapping[str, str]:
        """Return of each recognizer how it is; {} where there is one alone."""
        return self.recognizer.describe() if isinstance(self.recognizer, RecognizerChain) else {}

    def close(self) -> None:
        """Let connections go; what is heard after that opens new ones. Blocking, in no event loop."""
        if isinstance(self.recognizer, RecognizerChain):
            self.recognizer.close()


def choose_recognizer(
    settings: HearingSettings, names: Hotwords = no_hotwords, *, fetches: bool = False, tells: bool = True
) -> Hearing:
    """Return the recognizers for this box as they are now. Loads nothing, asks nobody.

    `names` are expected beside the configured words. `fetches` says that the service asks, and `tells` has what listens
    logged, as of `choose_whisper`. Raises `ModelNotFound` when a folder is configured that holds no model, or a name
    that nobody knows.
    """
    if tuple(settings.engines) == ("whisper",):
        alone = choose_whisper(settings.whisper, names, fetches=fetches, tells=tells)
        return Hearing(alone.recognizer, alone)
    whisper = None
    if "whisper" in settings.engines:
        whisper = choose_whisper(settings.whisper, names, fetches=fetches, tells=tells, instead=NEXT)
    streaming = streaming_of(settings) if "streaming" in settings.engines else None
    here: Mapping[RecognizerName, Recognizer | None] = {
        "whisper": whisper.recognizer if whisper else None,
        "streaming": streaming,
    }
    members = [here.get(name) or _server(name, settings, names) for name in settings.engines]
    return Hearing(RecognizerChain(members, last_resort, patience=settings.patience), whisper, streaming)


def streaming_of(settings: HearingSettings) -> SherpaRecognizer:
    """Return the recognizer that follows what is said. Loads nothing; looks at no folder."""
    given = settings.streaming
    folder = Path(given.model).expanduser()
    return SherpaRecognizer(folder, given.language or settings.whisper.language, given.threads)


def servers_of(settings: HearingSettings) -> list[RemoteRecognizer]:
    """Return those that are asked elsewhere, in order."""
    return [_server(name, settings, no_hotwords) for name in settings.engines if name not in HERE]


def _server(name: RecognizerName, settings: HearingSettings, names: Hotwords) -> RemoteRecognizer:
    expected, language = expecting(settings.whisper.ears.hotwords, names), settings.whisper.language
    if name == "wyoming":
        wyoming = settings.wyoming
        hotwords = expected if wyoming.send_names else no_hotwords
        return WyomingRecognizer(server_at(wyoming.url, WYOMING_PORT), wyoming.model, language, hotwords)
    openai, key = settings.openai, settings.openai_key
    hotwords = expected if openai.send_names else no_hotwords
    return OpenAiRecognizer(openai.url, openai.model, key.reveal() if key else "", language, hotwords)


class HearingAhead:
    """Recognizers that load before it is known who will tell them names to expect; until then they expect none."""

    def __init__(self, settings: HearingSettings) -> None:
        """Choose them; nothing is loaded. Raises `ModelNotFound` for a configured model folder that is none."""
        self._tellers: list[Hotwords] = []
        self._hearing = choose_recognizer(settings, self._names, fetches=True)

    def load(self) -> None:
        """Have them load from now on; from any thread, without waiting."""
        self._hearing.load()

    def hearing(self, settings: HearingSettings, names: Hotwords) -> Hearing:
        """Return them, expecting these names from now on, as `Environment.hearing`; `settings` are those of before."""
        self._tellers.append(names)
        return self._hearing

    def _names(self, language: str) -> Sequence[str]:
        return [name for told in self._tellers for name in told(language)]
