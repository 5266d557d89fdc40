"""The sound devices of the box: supervised, opened again, and told of."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from time import monotonic
from typing import Final

import structlog
from msgspec import Struct

from audio.capture.health import DeviceFault, Fault, is_copy
from audio.capture.live import LiveMicrophone
from audio.devices.hotplug import RETRY_PAUSES, Hotplug, system_hotplug
from audio.devices.pulse import records_itself
from audio.errors import DeviceUnavailable
from audio.interfaces import AudioSource, Player
from audio.loops import Loop
from audio.pcm import Samples
from audio.playback.earcons import sign
from audio.playback.reopening import PlayedSound, ReopeningOutput, ReopeningPlayer
from audio.playback.speech_output import SpeechOutput, SpokenSentence
from memory.json_value import Json

FAULTY_PAUSE: Final = 4.0
"""Seconds between tries of a device that can be opened and has a fault: only its own sound shows that it is well."""

LOOK_SECONDS: Final = 1.0
"""Between two looks at what it hears."""

SUSPICIOUS_ZEROS: Final = 2.0
"""Seconds of zeros after which the sound server is asked whose sound that is: its silent loudspeaker's?"""

ASK_AGAIN: Final = 30.0
"""Seconds until the server is asked again about zeros that were innocent."""


class Around(Struct, frozen=True):
    """What the supervision asks outside of the microphone; replaced where time or a sound server is simulated."""

    clock: Callable[[], float] = monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    records_itself: Callable[[], Awaitable[bool | None]] = records_itself
    """Whether the sound server gives us our own loudspeaker's sound; None where nobody knows."""


class MicrophoneSupervision:
    """Has a source listened to for ever, whatever happens to it, and knows how it is. All on the event loop.

    A recording is listened to once; a microphone until cancelled. One that is missing is looked for some times soon
    after it was lost, then when `next_look` returns: looking costs up to 80 ms of a core, and the box may have none.
    """

    def __init__(
        self,
        microphone: LiveMicrophone | None,
        on_change: Callable[[Fault | None], None],
        next_look: Callable[[], Awaitable[None]],
        played: PlayedSound | None = None,
        around: Around | None = None,
    ) -> None:
        """Supervise a microphone, None for a recording; `played` is what went to the loudspeaker.

        `on_change` is told when it is lost, with the fault, and when it is back, with None. `next_look` returns when a
        missing device may have come (`Hotplug.wait`).
        """
        self.fault: Fault | None = None
        """What is wrong with it now."""
        self._on_change = on_change
        self.first_heard = asyncio.Event()
        """Set once it was there: before that nobody needs a recognizer."""
        self._microphone = microphone
        self._next_look = next_look
        self._played = played or PlayedSound()
        self._around = around or Around()
        self._reason = ""
        self._times_lost = 0
        self._lost_at = 0.0
        self._ask_at = -math.inf
        """Seconds on the clock from which on the server may be asked about zeros."""
        self._copies = 0
        """Looks in a row at which it heard nothing but it."""
        if microphone is None:
            self.first_heard.set()

    def absent(self, reason: str) -> Fault:
        """Say that there is none at the start, though one may come; return the fault."""
        self.fault, self._reason, self._lost_at = Fault.GONE, reason, self._around.clock()
        return self.fault

    @property
    def is_awaited(self) -> bool:
        """Whether there never was one yet."""
        return not self.first_heard.is_set() and self.fault is not None

    def chunk(self) -> None:
        """Take note that a chunk came."""
        if self._microphone is None or not self._microphone.is_proven:
            return
        self.first_heard.set()
        if self.fault is None:
            return
        seconds = round(self._around.clock() - self._lost_at, 1)
        log.info("microphone_back", device=self._microphone.name, seconds=seconds)
        self.fault, self._reason = None, ""
        self._on_change(None)

    async def keep(self, listen: Callable[[], Awaitable[None]], rest: Callable[[], None]) -> None:
        """Run `listen`, again after each fault of the device; `rest` is called whenever nothing is listened to."""
        tries = 0
        while True:
            try:
                await listen()
            except DeviceUnavailable as error:
                tries = 0 if self.fault is None else tries
                self._lose(error)
                is_missing = not isinstance(error, DeviceFault)
            else:
                return
            finally:
                rest()
            await self._pause(tries, is_missing=is_missing)
            tries += 1

    async def _pause(self, tries: int, *, is_missing: bool) -> None:
        if is_missing and (self.is_awaited or tries >= len(RETRY_PAUSES)):
            await self._next_look()
        else:
            await self._around.sleep(RETRY_PAUSES[tries] if tries < len(RETRY_PAUSES) else FAULTY_PAUSE)

    async def watch(self) -> None:
        """Look whether what is heard is the loudspeaker's monitor, for ever; returns at once for a recording."""
        if self.is_awaited:
            await self.first_heard.wait()
        while self._microphone is not None:
            await self._around.sleep(LOOK_SECONDS)
            await self._look(self._microphone)

    def describe(self) -> dict[str, Json]:
        """Return how the microphone is, for the status."""
        told: dict[str, Json] = {"state": self.fault.value if self.fault else "open", "times_lost": self._times_lost}
        return {**told, "reason": self._reason} if self.fault else told

    def _lose(self, error: DeviceUnavailable) -> None:
        self._reason = str(error)
        fault = error.fault if isinstance(error, DeviceFault) else Fault.GONE
        if self.fault is not None:
            # A device that could not be opened for a while still has the fault for which it was closed.
            self.fault = fault if isinstance(error, DeviceFault) else self.fault
            log.debug("microphone_still_unavailable", reason=self._reason)
            return
        self.fault, self._lost_at, self._times_lost = fault, self._around.clock(), self._times_lost + 1
        log.warning("microphone_unavailable", fault=fault.value, reason=self._reason)
        self._on_change(fault)

    async def _look(self, microphone: LiveMicrophone) -> None:
        heard, _ = microphone.recent()
        if len(heard) == 0:
            return
        self._copies = self._copies + 1 if await self._is_copy(heard) else 0
        now = self._around.clock()
        doubtful = self.fault is Fault.MONITOR and not microphone.is_proven
        zeros = microphone.zero_seconds >= SUSPICIOUS_ZEROS and now >= self._ask_at
        # A single look may fall on a moment in which it was close to the microphone and everything else silent.
        if not (doubtful or zeros or self._copies >= 2):
            return
        self._ask_at = now + ASK_AGAIN
        itself = await self._around.records_itself()
        if itself or (itself is None and self._copies >= 2):
            self._copies = 0
            microphone.give_up(Fault.MONITOR)
        elif doubtful and (itself is False or self._hears_others(microphone)):
            microphone.trust()

    async def _is_copy(self, heard: Samples) -> bool:
        played = self._played.last(self._around.clock())
        if len(played) <= len(heard) or not heard.any():
            return False
        return await asyncio.to_thread(is_copy, heard, played)

    def _hears_others(self, microphone: LiveMicrophone) -> bool:
        """Whether there is sound while it was silent: a monitor would have none."""
        return microphone.zero_seconds == 0.0 and len(self._played.last(self._around.clock())) == 0


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
            # Bad news may have become wrong while it waited for what was being said.
            sign("unmuted" if good else "error"),
            sentence,
            unless=lambda: not good and self._fault is None,
        ):
            log.info("device_news", words=text)
        else:
            self._told = None


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


def supervised(
    source: AudioSource | None,
    player: Player,
    speech: SpeechOutput,
    language: str,
    lull: Callable[[], Awaitable[object]],
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
