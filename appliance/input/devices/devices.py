"""The sound devices of the box: supervised, opened again, and told of."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TypeAlias

from msgspec import Struct

from appliance.input.devices.news import DeviceNews
from appliance.input.devices.supervision import MicrophoneSupervision
from audio.capture.live import LiveMicrophone
from audio.devices.hotplug import Hotplug, system_hotplug
from audio.interfaces import AudioSource, Player
from audio.loops import Loop
from audio.playback.reopening import ReopeningOutput, ReopeningPlayer
from audio.playback.speech_output import SpeechOutput
from memory.json_value import Json


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
