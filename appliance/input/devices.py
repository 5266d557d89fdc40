"""The sound devices of the box: watched, opened again, and told of."""

from collections.abc import Mapping
from dataclasses import dataclass

from agent.model.messages import Json
from appliance.input.device_news import DeviceNews
from appliance.input.supervision import MicrophoneSupervision
from audio.capture.live import LiveMicrophone
from audio.interfaces import AudioSource, Player
from audio.loops import Loop
from audio.playback.reopening import ReopeningOutput, ReopeningPlayer
from audio.playback.speech_output import SpeechOutput


@dataclass(frozen=True, slots=True)
class Devices:
    """Microphone and loudspeaker, where they are real ones."""

    microphone: MicrophoneSupervision
    loudspeaker: ReopeningOutput | None
    """None where sound goes to a file."""
    news: DeviceNews

    def loops(self) -> Mapping[str, Loop]:
        """Return what watches both and tells what changes, until cancelled."""
        loudspeaker = {} if self.loudspeaker is None else {"devices: the loudspeaker": self.loudspeaker.run}
        return {
            "devices: what the microphone hears": self.microphone.watch,
            **loudspeaker,
            "devices: news of them, aloud": self.news.run,
        }

    def describe_loudspeaker(self) -> dict[str, Json]:
        """Return how the loudspeaker is, for the status."""
        return {**self.loudspeaker.describe()} if self.loudspeaker is not None else {"device": "a file"}


def supervised(source: AudioSource | None, player: Player, speech: SpeechOutput, language: str) -> Devices:
    """Return the supervision of whatever is real of the two."""
    microphone = source if isinstance(source, LiveMicrophone) else None
    loudspeaker = player.output if isinstance(player, ReopeningPlayer) else None
    news = DeviceNews(speech, lambda: loudspeaker is None or loudspeaker.is_there, language)
    watched = MicrophoneSupervision(microphone, news.microphone, loudspeaker.played if loudspeaker else None)
    if microphone is not None and microphone.missing:
        news.absent(watched.absent(microphone.missing))
    if loudspeaker is not None:
        loudspeaker.observe(news.loudspeaker)
    return Devices(watched, loudspeaker, news)
