"""The sound devices of the box: supervised, opened again, and told of."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final, TypeAlias

import structlog
from msgspec import Struct

from appliance.input.devices.supervision import MicrophoneSupervision
from audio.capture.health import Fault
from audio.capture.live import LiveMicrophone
from audio.devices.hotplug import Hotplug, system_hotplug
from audio.interfaces import AudioSource, Player
from audio.loops import Loop
from audio.playback.earcons import sign
from audio.playback.reopening import ReopeningOutput, ReopeningPlayer
from audio.playback.speech_output import SpeechOutput, SpokenSentence
from memory.json_value import Json

log = structlog.get_logger()

SETTLE_SECONDS: Final = 4.0
"""From a change to a word about it: what is back by then was hardly missed, and both devices often go together."""

_SENTENCES: Final = {
    Fault.GONE: ("My microphone is gone. I cannot hear you.", "我的麦克风不见了，我听不到你说话。"),
    Fault.ZEROS: ("My microphone gives only silence. It may be muted.", "我的麦克风没有任何声音，可能被静音了。"),
    Fault.MONITOR: (
        "My microphone is gone: I hear only my own loudspeaker.",
        "我的麦克风不见了，我只能听到自己的扬声器。",
    ),
    "microphone": ("My microphone is back.", "我的麦克风恢复了。"),
    "loudspeaker": ("My loudspeaker is back.", "我的扬声器恢复了。"),
    "both": ("My microphone and my loudspeaker are back.", "我的麦克风和扬声器都恢复了。"),
}


class DeviceNews:
    """What was told of the devices, and what is to be told. All on the event loop.

    Nothing is queued: what is told is how things are when they can be told, each change at most once.
    """

    def __init__(
        self,
        mouth: SpeechOutput,
        is_loud: Callable[[], bool],
        language: str,
        lull: Callable[[], Awaitable[object]],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`is_loud` tells whether there is a loudspeaker; `language` (ISO 639-1) is that of the household.

        `lull` waits until something may be said that nobody asked for.
        """
        self._mouth = mouth
        self._is_loud = is_loud
        self._chinese = language.startswith("zh")
        self._lull = lull
        self._sleep = sleep
        self._changed = asyncio.Event()
        self._fault: Fault | None = None
        self._told: Fault | None = None
        """The fault that was told and not yet taken back."""
        self._missed = {"microphone": False, "loudspeaker": False}
        """Devices that were gone while nothing could be said of it."""

    def absent(self, fault: Fault) -> None:
        """Say that there is no microphone at the start; the log has told, and nobody wants to hear it at each start."""
        self._fault = self._told = fault

    def microphone(self, fault: Fault | None) -> None:
        """Take note that the microphone has a fault, or none any more."""
        self._fault = fault
        self._note_missed()
        self._changed.set()

    def loudspeaker(self, is_there: bool) -> None:
        """Take note that the loudspeaker is there again, or gone."""
        self._missed["loudspeaker"] = True
        self._note_missed()
        self._changed.set()

    def _note_missed(self) -> None:
        self._missed["microphone"] |= self._fault is not None and not self._is_loud()

    async def run(self) -> None:
        """Tell what changes, for ever."""
        while True:
            await self._changed.wait()
            await self._sleep(SETTLE_SECONDS)
            await self._lull()
            self._changed.clear()
            if self._is_loud() and (news := self._news()):
                await self._tell(*news)

    def _news(self) -> tuple[str, bool] | None:
        """Return the sentence that is due and whether it is good news; it counts as told."""
        fault, told, missed = self._fault, self._told, self._missed
        self._told, self._missed = fault, dict.fromkeys(missed, False)
        back = [name for name, is_back in missed.items() if is_back]
        if fault is None and told is not None and "microphone" not in back:
            back.insert(0, "microphone")
        if fault is not None and "microphone" in back:
            back.remove("microphone")
        if fault is not None and told is None:
            return self._sentence(fault if fault in _SENTENCES else Fault.GONE), False
        if not back:
            return None
        return self._sentence("both" if len(back) > 1 else back[0]), True

    def _sentence(self, name: str) -> str:
        return _SENTENCES[name][self._chinese]

    async def _tell(self, text: str, good: bool) -> None:
        sentence = SpokenSentence("", 0, text, "zh" if self._chinese else "en")
        if await self._mouth.announce(
            sign("unmuted" if good else "error"), sentence, unless=lambda: self._is_over(good)
        ):
            log.info("device_news", words=text)
        else:
            self._told = None

    def _is_over(self, good: bool) -> bool:
        """Whether bad news has become wrong while it waited for what was being said."""
        return not good and self._fault is None


class Devices(Struct, frozen=True):
    """Microphone and loudspeaker, where they are real ones."""

    microphone: MicrophoneSupervision
    loudspeaker: ReopeningOutput | None
    """None where sound goes to a file."""
    news: DeviceNews
    hotplug: Hotplug

    def loops(self) -> Mapping[str, Loop]:
        """Return what watches both and tells what changes, until cancelled."""
        loudspeaker: dict[str, Loop] = {}
        if self.loudspeaker is not None:
            loudspeaker["devices: the loudspeaker"] = partial(self.loudspeaker.run, self.hotplug.wait)
        return {
            **self.hotplug.loops(),
            "devices: what the microphone hears": self.microphone.watch,
            **loudspeaker,
            "devices: news of them, aloud": self.news.run,
        }

    def describe_loudspeaker(self) -> dict[str, Json]:
        """Return how the loudspeaker is, for the status."""
        return {**self.loudspeaker.describe()} if self.loudspeaker is not None else {"device": "a file"}


Lull: TypeAlias = Callable[[], Awaitable[object]]
"""Waits until something may be said that nobody asked for."""


def supervised(
    source: AudioSource | None,
    player: Player,
    speech: SpeechOutput,
    language: str,
    lull: Lull,
) -> Devices:
    """Return the supervision of whatever is real of the two; `lull` waits until news of them may be told."""
    microphone = source if isinstance(source, LiveMicrophone) else None
    loudspeaker = player.output if isinstance(player, ReopeningPlayer) else None
    hotplug = system_hotplug()
    news = DeviceNews(speech, lambda: loudspeaker is None or loudspeaker.is_there, language, lull)
    played = loudspeaker.played if loudspeaker else None
    watched = MicrophoneSupervision(microphone, news.microphone, hotplug.wait, played)
    if microphone is not None and microphone.missing:
        news.absent(watched.absent(microphone.missing))
    if loudspeaker is not None:
        loudspeaker.observe(news.loudspeaker)
    return Devices(watched, loudspeaker, news, hotplug)
