"""Controls echo cancellation: loads the canceller, calibrates at start and on request, reports its status."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Protocol, TypeAlias

import structlog

from audio.echo.calibration import Calibration, chime
from audio.echo.canceller import Canceller, WebRtcCanceller, has_canceller
from audio.echo.duplex import HalfDuplex
from audio.echo.guard import CancellingGuard, RoomProfile
from audio.echo.reference import PlayedReference
from audio.interfaces import Player
from audio.loops import Loop, until_set
from audio.playback.live import LivePlayer, PlaybackTap
from audio.speech import SpeechAudio

log = structlog.get_logger()

SETTLE_SECONDS: Final = 4.0
"""After the sound: the microphone has delivered its echo by then, or delivers nothing at all."""

KEEP_SECONDS: Final = 900.0
"""Between two writes of what was learned: a room changes slowly, and a disk wears out."""

MISSING: Final = "no echo cancellation: install nakari with its extra `echo`"

Play: TypeAlias = Callable[[SpeechAudio], Awaitable[None]]
"""Plays a sound in its turn and returns when it was heard, or hushed."""


class KeptRoom(Protocol):
    """Keeps the newest profile. `load` and `save` block, for worker threads."""

    def devices(self) -> str:
        """Return the names of microphone and loudspeaker, as they are now."""

    def load(self) -> RoomProfile | None:
        """Return the profile that was kept of these devices; None where there is none, or none that can be read."""

    def save(self, profile: RoomProfile) -> None:
        """Keep a profile in place of the one before. What cannot be kept is told in the log, and costs nothing else."""


@dataclass(slots=True)
class EchoControl:
    """The echo guard of a box and its supervision. `run` is a loop for the one task group."""

    guard: CancellingGuard | HalfDuplex
    """The guard, for the listener; and what it tells of whoever speaks under nakari's voice."""
    play: Play
    load: Callable[[], Canceller] = WebRtcCanceller
    """Blocking; raises ImportError."""
    calibrates_at_start: bool = True
    kept: KeptRoom | None = None
    """Where what was learned is kept over a restart; None: nowhere."""
    _asked: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _answered: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    """Of those who asked before the next calibration begins: one each."""
    _found: Calibration | None = field(default=None, init=False)
    """By the newest calibration."""

    def describe(self) -> str:
        """Return one sentence for the status: the mode, what was measured, and what cannot be interrupted."""
        return self.guard.duplex.describe()

    @property
    def cancels(self) -> bool:
        """Whether there is a canceller, or one is being loaded: else there is nothing to calibrate."""
        return isinstance(self.guard, CancellingGuard) and not self.guard.is_given_up

    async def calibrate(self) -> Calibration | None:
        """Have a calibration made, by `run`, as soon as nothing is spoken and the microphone delivers.

        Returns what it showed; None where a device stood still, or nothing is cancelled here.
        """
        answered = self._answered
        if self.cancels:
            self._asked.set()
            await answered.wait()
        return self._found if self.cancels else None

    def loops(self) -> Mapping[str, Loop]:
        """Return what loads, calibrates and follows it, until cancelled."""
        loops: dict[str, Loop] = {"ears: the echo canceller": self.run}
        if isinstance(self.guard, CancellingGuard):
            loops["ears: what was learned of the echo"] = partial(self.follow, self.guard)
        return loops

    async def run(self) -> None:
        """Load the canceller, then calibrate whenever that is wanted, for ever."""
        guard = self.guard
        if not isinstance(guard, CancellingGuard):
            log.info("duplex_chosen", mode=str(guard.mode), told=self.describe())
            return
        try:
            guard.use(await asyncio.to_thread(self.load))
        except ImportError as error:
            guard.stay_half_duplex(f"echo cancellation cannot be loaded: {error}")
            self._answered.set()
            log.warning("echo_cancellation_unavailable", reason=str(error))
            return
        profile = None if self.kept is None else await asyncio.to_thread(self.kept.load)
        if profile is not None:
            guard.recall(profile)
            log.info("room_recalled", devices=profile.devices, mode=str(profile.mode))
        if self.calibrates_at_start:
            self._asked.set()
        while True:
            await self._asked.wait()
            self._asked.clear()
            answered, self._answered = self._answered, asyncio.Event()
            self._found = await calibrate(guard, self.play)
            answered.set()

    async def follow(self, guard: CancellingGuard) -> None:
        """Look for an echo that is not where it was, and keep what was learned, for ever; once more at the end."""
        try:
            while True:
                await until_set(guard.astray, KEEP_SECONDS)
                if guard.astray.is_set():
                    guard.found_astray(await asyncio.to_thread(guard.seek()))
                    guard.astray.clear()
                    log.info("echo_looked_for", told=guard.duplex.describe())
                elif (learned := self._learned(guard)) is not None:
                    await asyncio.to_thread(learned)
        finally:
            if (learned := self._learned(guard)) is not None:
                learned()

    def _learned(self, guard: CancellingGuard) -> Callable[[], None] | None:
        """Return what keeps what was learned up to now, blocking for some milliseconds; None where that is nothing."""
        kept = self.kept
        if kept is None or (profile := guard.profile(kept.devices())) is None:
            return None
        return partial(kept.save, profile)


async def calibrate(guard: CancellingGuard, play: Play) -> Calibration | None:
    """Play the sound once the microphone delivers, and measure it; None when its echo never came in."""
    tape = guard.record()
    try:
        await tape.begun.wait()
        await play(chime())
        async with asyncio.timeout(SETTLE_SECONDS):
            await tape.settled.wait()
            if not await asyncio.to_thread(lambda: tape.holds_echo):
                await tape.settled_late.wait()
    except TimeoutError:
        log.warning("echo_not_measured", reason="the loudspeaker or the microphone stood still")
        return None
    finally:
        guard.discard()
    found = guard.calibrate_by(tape)
    log.info("echo_measured", heard=found.is_heard, told=guard.duplex.describe())
    return found


def open_echo(
    player: Player,
    play: Play,
    *,
    calibrates_at_start: bool = True,
    unwanted: str = "",
    loopback: Callable[[PlaybackTap], None] | None = None,
    kept: KeptRoom | None = None,
) -> EchoControl:
    """Return the guard for a microphone in the room of this player, and its control; to be called before it plays.

    Only a `LivePlayer` tells what it plays. With another player, without livekit, or where
    cancellation is `unwanted` for the reason given, it is half duplex. `player.busy_until` and the chunks' times are
    on one clock; `play` is how a calibration gets its turn at the player. `loopback` is the tap of a card that gives
    back itself what it plays: what really sounded, on the microphone's own clock. `kept` is where what is learned
    outlasts a restart.
    """
    half_duplex = partial(HalfDuplex, lambda: player.busy_until)
    if unwanted:
        return EchoControl(half_duplex(unwanted), play)
    if not isinstance(player, LivePlayer):
        return EchoControl(half_duplex(f"{player.name} does not tell what it plays"), play)
    if not has_canceller():
        return EchoControl(half_duplex(MISSING), play)
    reference = PlayedReference()
    (loopback or player.tap)(reference.take)
    guard = CancellingGuard(reference, half_duplex())
    return EchoControl(guard, play, calibrates_at_start=calibrates_at_start, kept=kept)
