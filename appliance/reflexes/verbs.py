"""The verbs of the device: what a word, a tool or a command can make it do at once, each in one place."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeAlias

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
        match order.verb:
            case "stop":
                return self.stop(by_run=by_run)
            case "volume" | "quieter" | "louder":
                return self._set_volume(order)
            case "mute" | "unmute":
                self.mute.switch(is_on=order.verb == "mute")
                return "muted" if self.mute.is_on else "unmuted"
            case "forget":
                self.interrupt()  # so that what the run in hand was told can be forgotten
                return "forgotten"
        return self._go_on(order.verb)

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

    def configure_volume(self, percent: int) -> None:
        """Be as loud as the configuration says by now, whatever people have changed since."""
        self.configured_volume = percent
        self._set_volume(Order("volume", percent))

    def _set_volume(self, order: Order) -> str:
        """Step the volume, or set it to a percent; what is beyond 0 to 100 is taken as the nearer end."""
        match order.verb:
            case "quieter":
                self.mouth.volume.quieter()
            case "louder":
                self.mouth.volume.louder()
            case _:
                self.mouth.volume.percent = order.percent
        return "volume"

    def _go_on(self, verb: Verb) -> str:
        """Pause what is being said, say on what was paused, or let the last reply be said again in silence."""
        if verb == "wait" and self.mouth.current is not None:
            self.mouth.pause()
            return "paused"
        if verb == "go on" and self.mouth.is_paused:
            self.mouth.resume()
            return "resumed"
        is_repeated = verb == "repeat" and self.mouth.last_reply and self.mouth.current is None
        return "repeated" if is_repeated else ""
