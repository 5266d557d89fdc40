"""No loudspeaker: sound is taken and not played, in no time."""

from audio.speech import SpeechAudio


class SilentPlayer:
    """A `Player` where none can be: sentences are over as soon as they are made, and nothing ever sounds."""

    name = "nothing (no loudspeaker)"

    async def start(self) -> None:
        """There is nothing to open."""

    async def play(self, audio: SpeechAudio) -> None:
        """Take the samples."""

    async def drain(self) -> None:
        """Nothing is ever queued."""

    def stop(self) -> float:
        """Return 0.0: nothing is ever queued."""
        return 0.0

    def pause(self) -> None:
        """Nothing sounds."""

    def resume(self) -> None:
        """Nothing waits."""

    def set_gain(self, factor: float) -> None:
        """Nothing is quieter than nothing."""

    @property
    def busy_until(self) -> float:
        """0.0: nothing ever played."""
        return 0.0

    async def aclose(self) -> None:
        """There is nothing to close."""
