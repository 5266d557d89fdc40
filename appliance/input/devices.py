"""The sound devices of the box: watched, opened again, and told of."""

import asyncio
from dataclasses import dataclass

from appliance.config.load import Config
from appliance.input.device_news import DeviceNews
from appliance.input.supervision import MicrophoneSupervision
from audio.capture.live import LiveMicrophone
from audio.interfaces import AudioSource, Player
from audio.playback.reopening import ReopeningOutput, ReopeningPlayer
from audio.playback.speech_output import SpeechOutput
from memory.json_value import Json


@dataclass(frozen=True, slots=True)
class Devices:
    """Microphone and loudspeaker, where they are real ones."""

    microphone: MicrophoneSupervision
    loudspeaker: ReopeningOutput | None
    """None where sound goes to a file."""
    news: DeviceNews

    async def run(self) -> None:
        """Watch both and tell what changes, until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.microphone.watch(), name="devices: what the microphone hears")
            if self.loudspeaker is not None:
                group.create_task(self.loudspeaker.run(), name="devices: the loudspeaker")
            group.create_task(self.news.run(), name="devices: news of them, aloud")

    def describe_loudspeaker(self) -> dict[str, Json]:
        """Return how the loudspeaker is, for the status."""
        return {**self.loudspeaker.describe()} if self.loudspeaker is not None else {"device": "a file"}


def supervised(config: Config, source: AudioSource | None, player: Player, mouth: SpeechOutput) -> Devices:
    """Return the supervision of whatever is real of the two."""
    microphone = source if isinstance(source, LiveMicrophone) else None
    loudspeaker = player.output if isinstance(player, ReopeningPlayer) else None
    watched = MicrophoneSupervision(microphone, loudspeaker.played if loudspeaker else None)
    news = DeviceNews(mouth, lambda: loudspeaker is None or loudspeaker.is_there, config.ears.language)
    if microphone is not None:
        microphone.zero_limit = config.ears.zeros_are_dead or float("inf")
        if microphone.missing:
            news.absent(watched.absent(microphone.missing))
    watched.on_change = news.microphone
    if loudspeaker is not None:
        loudspeaker.on_change = news.loudspeaker
    return Devices(watched, loudspeaker, news)
