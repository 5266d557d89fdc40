"""Whether she cancels her own voice here, and how a calibration gets its turn to sound."""

from appliance.config import Config
from audio.echo.control import EchoControl, open_echo
from audio.interfaces import AudioSource, Player
from audio.line import SpokenSentence
from audio.mouth import Mouth
from audio.recording import RecordingSource
from audio.speech import SpeechAudio


def echo_in(config: Config, source: AudioSource | None, player: Player, mouth: Mouth) -> EchoControl:
    """Return the echo guard for the ears, and its control, whose `run` is one of the service's loops."""

    async def play(sound: SpeechAudio) -> None:
        await mouth.announce(sound, SpokenSentence("echo", 0, "", ""))

    unwanted = "" if config.ears.cancel_echo else "as [ears] cancel_echo is set"
    if isinstance(source, RecordingSource):
        unwanted = "a recording takes the microphone's place"
    return open_echo(player, play, calibrates_at_start=config.ears.calibrate_at_start, unwanted=unwanted)
