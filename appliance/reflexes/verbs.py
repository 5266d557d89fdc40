"""The verbs of the device: what a word, a tool or a command can make it do at once, each in one place."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec import Struct

from appliance.reflexes.kept import KeptSwitches, TimedMute
from audio.playback.speech_output import SpeechOutput
from audio.reflexes.words import Reflex

if TYPE_CHECKING:
    from appliance.timers.ringer import RingerHere

Verb: TypeAlias = Reflex | Literal["volume", "snooze"]
"""A reflex; the volume set to so many percent; or what rings, silent for a while."""


class Order(Struct, frozen=True):
    """A verb with what was said to it."""

    verb: Verb
    percent: int = 0
    """Of `volume`."""
    minutes: float | None = None
    """Of `snooze`; None for the usual time."""


class Verbs(Struct):
    """Acts on the mouth, the ringer, the run and the microphone; only with what answers at once.

    Each verb returns the name of what it did (`appliance.reflexes.words`), "" when there was nothing to act upon.
    """

    mouth: SpeechOutput
    mute: TimedMute
    kept: KeptSwitches
    ringer: "RingerHere | None"
    interrupt: Callable[[], bool]
    """Ends the run in hand; whether there was one."""
    silence: Callable[[], object]
    """Silences the mouth with what the replies under way know of it."""
    configured_volume: int = 100
    """Percent."""

    @property
    def is_sounding(self) -> bool:
        """Whether there is anything to be heard, or about to be."""
        return self.mouth.current is not None or self.mouth.is_paused or self.is_ringing

    @property
    def is_ringing(self) -> bool:
        """Whether a timer rings."""
        return self.ringer is not None and self.ringer.is_ringing

    def act(self, order: Order, *, by_run: bool = False) -> str:
        """Do what is ordered; `by_run`: the run in hand asks for it, and is not ended by what it asks for."""
        if order.verb == "volume":
            return self.set_volume(order.percent)
        if order.verb == "stop":
            return self.stop(by_run=by_run)
        act = _ACTS.get(order.verb)
        return act(self) if act else ""

    def stop(self, *, by_run: bool = False) -> str:
        """End the ring; where nothing rings, or it speaks too, end that and the run in hand."""
        was_speaking = self.mouth.current is not None
        silenced = self.ringer is not None and bool(self.ringer.silence())
        if silenced and not was_speaking:
            return "silenced"
        if not by_run:
            self.interrupt()
        self.silence()
        return "stopped"

    def wait(self) -> str:
        """Pause what is being said."""
        if self.mouth.current is None:
            return ""
        self.mouth.pause()
        return "paused"

    def go_on(self) -> str:
        """Say on what was paused."""
        if not self.mouth.is_paused:
            return ""
        self.mouth.resume()
        return "resumed"

    def quieter(self) -> str:
        """Step the volume down."""
        self.mouth.volume.quieter()
        return "volume"

    def louder(self) -> str:
        """Step the volume up."""
        self.mouth.volume.louder()
        return "volume"

    def configure_volume(self, percent: int) -> None:
        """Be as loud as the configuration says by now, whatever people have changed since."""
        self.configured_volume = percent
        self.set_volume(percent)

    def set_volume(self, percent: int) -> str:
        """Set the volume, 0 to 100; what is beyond is taken as the nearer end."""
        self.mouth.volume.percent = percent
        return "volume"

    def repeat(self) -> str:
        """Let the last reply be said again, where there is one and nothing is being said."""
        if not self.mouth.last_reply or self.mouth.current is not None:
            return ""
        return "repeated"

    def mute_microphone(self) -> str:
        """Switch the microphone off, for as long as a mute lasts."""
        self.mute.switch(is_on=True)
        return "muted"

    def unmute_microphone(self) -> str:
        """Switch the microphone on."""
        self.mute.switch(is_on=False)
        return "unmuted"

    def forget(self) -> str:
        """End the run in hand, so that what it was told can be forgotten."""
        self.interrupt()
        return "forgotten"


_ACTS: Final[dict[Verb, Callable[[Verbs], str]]] = {
    "wait": Verbs.wait,
    "go on": Verbs.go_on,
    "quieter": Verbs.quieter,
    "louder": Verbs.louder,
    "repeat": Verbs.repeat,
    "mute": Verbs.mute_microphone,
    "unmute": Verbs.unmute_microphone,
    "forget": Verbs.forget,
}
