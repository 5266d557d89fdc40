"""The verbs of the device: what a word, a tool or a command can make it do at once, each in one place."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import structlog
from msgspec import Struct

from agent.event import utc_now
from agent.mailbox import Wait, waiting_by
from agent.time.clock_steps import ClockSteps
from appliance.reflexes.kept import KeptSwitches
from audio.capture.mute import Mute
from audio.playback.speech_output import SpeechOutput
from audio.reflexes.words import Reflex

if TYPE_CHECKING:
    from appliance.timers.ringer import RingerHere

log = structlog.get_logger()


class TimedMute(Mute):
    """A `Mute` that ends so many minutes on the wall clock after it began; a restart neither forgets nor prolongs it.

    A mute whose end nobody knows, and one that ends later than one that begins now (a clock that was wrong, or another
    setting), end as one that begins now. Where the clock is set while it lasts, it lasts as long all the same.
    """

    def __init__(
        self,
        kept: KeptSwitches,
        minutes: float,
        now: Callable[[], datetime] = utc_now,
        wait: Wait | None = None,
        steps: ClockSteps | None = None,
    ) -> None:
        """Be as it was kept; `minutes` of 0 for a mute that does not end by itself.

        `steps` notices that the clock was set; None is a clock that nobody sets.
        """
        super().__init__(is_on=kept.now.muted)
        self.minutes = minutes
        self._kept = kept
        self._now = now
        self._wait = wait or waiting_by(now)
        self._steps = steps
        self._changed = asyncio.Event()
        self._until = self._earlier(kept.now.muted_until) if self.is_on else None

    @property
    def until(self) -> datetime | None:
        """When it ends by itself, aware; None while it is off, and where only a person ends it."""
        return self._until if self.is_on else None

    def switch(self, *, is_on: bool) -> None:
        """Switch it; its time begins anew."""
        self.is_on = is_on
        self._until = self._earlier(None) if is_on else None
        self._changed.set()

    async def keep(self) -> None:
        """Make durable how it is."""
        await self._kept.keep(muted=self.is_on, muted_until=self.until)

    async def run(self, is_over: Callable[[], None]) -> None:
        """Call `is_over`, which switches it off, whenever its time is over; until cancelled."""
        if self.is_on and self.until != self._kept.now.muted_until:
            await self.keep()
        while True:
            self._changed.clear()
            await self._follow_clock()
            if self.until is not None and self._now() >= self.until:
                log.info("mute_ended", minutes=self.minutes)
                is_over()
            await self._wait(self._changed, self.until)

    async def _follow_clock(self) -> None:
        """Move the end to where it belongs once the clock was set."""
        if self._steps is None or (step := self._steps.noticed()) is None:
            return
        now = self._now()
        if self._until is not None:
            self._until += now - step.until
            await self.keep()
        self._steps.followed(step, now)

    def _earlier(self, until: datetime | None) -> datetime | None:
        """Return that moment, or the end of a mute that begins now where that is earlier, or nobody knows one."""
        if not self.minutes:
            return None
        latest = self._now() + timedelta(minutes=self.minutes)
        return latest if until is None else min(until, latest)


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
