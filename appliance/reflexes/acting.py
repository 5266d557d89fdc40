"""What each reflex does: at once, on the event loop, to the mouth, the ringer, the mind and the microphone."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from appliance.reflexes.kept import KeptSwitches
from audio.capture.mute import Mute
from audio.playback.speech_output import SpeechOutput
from audio.reflexes.words import Reflex

if TYPE_CHECKING:
    from appliance.timers.ringer import Ringer


@dataclass(slots=True)
class Body:
    """What reflexes act upon; only things that answer at once."""

    mouth: SpeechOutput
    mute: Mute
    kept: KeptSwitches
    ringer: "Ringer | None"
    interrupt: Callable[[], bool]
    """Ends what the mind has in hand; whether there was anything."""
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


def _stop(body: Body) -> str:
    """End the ring; where nothing rings, or it speaks too, end that and what the mind has in hand."""
    was_speaking = body.mouth.current is not None
    silenced = body.ringer is not None and bool(body.ringer.silence_all())
    if silenced and not was_speaking:
        return "silenced"
    body.interrupt()
    body.silence()
    return "stopped"


def _wait(body: Body) -> str:
    if body.mouth.current is None:
        return ""
    body.mouth.pause()
    return "paused"


def _go_on(body: Body) -> str:
    if not body.mouth.is_paused:
        return ""
    body.mouth.resume()
    return "resumed"


def _quieter(body: Body) -> str:
    body.mouth.volume.quieter()
    return "volume"


def _louder(body: Body) -> str:
    body.mouth.volume.louder()
    return "volume"


def _repeat(body: Body) -> str:
    if not body.mouth.last_reply or body.mouth.current is not None:
        return ""
    return "repeated"


def _mute(body: Body) -> str:
    body.mute.is_on = True
    return "muted"


def _unmute(body: Body) -> str:
    body.mute.is_on = False
    return "unmuted"


def _forget(body: Body) -> str:
    body.interrupt()
    return "forgotten"


ACTS: Final[dict[Reflex, Callable[[Body], str]]] = {
    "stop": _stop,
    "wait": _wait,
    "go on": _go_on,
    "quieter": _quieter,
    "louder": _louder,
    "repeat": _repeat,
    "mute": _mute,
    "unmute": _unmute,
    "forget": _forget,
}
"""Each returns the name of what it did (`appliance.reflexes.words`), "" when there was nothing to act upon."""
