"""A player whose loudspeaker is elsewhere: hardly ahead of what is heard there, so that it can be cut."""

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import Final

import numpy as np

from appliance.remote.outbox import MOST_SOUND, Outbox, SoundBegins, SoundEnds
from audio.errors import DeviceUnavailable
from audio.loops import until_set
from audio.pcm import Samples
from audio.playback.volume import scaled
from audio.speech import SpeechAudio

AHEAD_SECONDS: Final = 0.8
"""Sent before it is heard."""

PIECE_SECONDS: Final = 0.1
"""Of sound sent at a time: with it no more than a second is ahead."""

DELAY_SECONDS: Final = 0.15
"""From sending to hearing, as far as anybody knows: what a page collects before it begins to play, and the way there.
"""


class RemotePlayer:
    """A `Player` over an outbox. The place plays what it is sent at once, in order, and drops the rest when it is cut.

    Nobody reports what was heard there: it is reckoned by the clock, from when the sound was sent. What a pause cut off
    is sent again when it goes on. Where it is not `is_paced`, sound goes as fast as it is taken, and counts as heard.
    """

    def __init__(
        self, name: str, outbox: Outbox, *, is_paced: bool = True, clock: Callable[[], float] = monotonic
    ) -> None:
        self.name = name
        self._outbox = outbox
        self._is_paced = is_paced
        self._clock = clock
        self._event_id = ""
        self._sample_rate = 0
        """Hz of the sound that the place is playing; 0 while it is playing none."""
        self.busy_until = 0.0
        """Seconds on the clock at which the last sample that was sent is over; 0 if nothing ever was."""
        self._sent: Samples = np.zeros(0, np.int16)
        """The newest samples that were sent, as they came; at least all that were not heard yet."""
        self._unsent = 0
        """Samples that `play` still holds."""
        self._held: Samples | None = None
        """While it is paused: what was cut off."""
        self._held_rate = 0
        self._stops = 0
        """How often it was stopped: what `play` held then is not sent."""
        self._gain = 1.0
        self._changed = asyncio.Event()

    def speaks_of(self, event_id: str, words: str) -> None:
        """Take which event is answered by what is played from now on."""
        if event_id != self._event_id and self._sample_rate:
            self.finish()
        self._event_id = event_id

    def finish(self) -> None:
        """Tell the place that all was said."""
        self._end(is_cut=False)

    async def start(self) -> None:
        """There is nothing to open: the place is there, or it is gone."""

    async def play(self, audio: SpeechAudio) -> None:
        """Send the samples; wait while enough of them is ahead. Raises `DeviceUnavailable` when the place is gone."""
        size, stops = max(1, round(PIECE_SECONDS * audio.sample_rate)), self._stops
        self._unsent = len(audio.samples)
        for at in range(0, len(audio.samples), size):
            await self._until_left(AHEAD_SECONDS)
            if self._stops != stops:
                return
            piece = audio.samples[at : at + size]
            self._unsent -= len(piece)
            self._append(piece, audio.sample_rate)
        await self._until_left(AHEAD_SECONDS)

    async def drain(self) -> None:
        """Return when the last sample was heard. Raises `DeviceUnavailable` when the place is gone."""
        await self._until_left(0.0)

    def stop(self) -> float:
        """Cut off what was not heard yet, and return its seconds."""
        rate = self._sample_rate or self._held_rate
        dropped = len(self._cut_off()) + self._unsent + (0 if self._held is None else len(self._held))
        self._held, self._unsent = None, 0
        self._stops += 1
        self._changed.set()
        return dropped / rate if rate else 0.0

    def pause(self) -> None:
        """Have the place fall silent; what was not heard yet is kept. What is not paced was heard already."""
        if self._is_paced and self._held is None:
            self._held_rate = self._sample_rate or self._held_rate
            self._held = self._cut_off()

    def resume(self) -> None:
        """Send what was cut off."""
        if self._held is not None:
            held, self._held = self._held, None
            if len(held):
                self._append(held, self._held_rate)
            self._changed.set()

    def set_gain(self, factor: float) -> None:
        """Scale what is sent from now on by a factor in [0, 1]."""
        self._gain = factor

    async def aclose(self) -> None:
        """Tell the place that no more comes."""
        self.finish()

    def _append(self, samples: Samples, sample_rate: int) -> None:
        if self._held is not None:
            self._held = np.concatenate([self._held, samples])
            self._held_rate = sample_rate
            return
        if self._sample_rate != sample_rate:
            self.finish()
            self._sample_rate = sample_rate
            self._outbox.put(SoundBegins(sample_rate, self._event_id))
        now = self._clock()
        unheard = self._unheard(now)
        self._sent = np.concatenate([self._sent[len(self._sent) - unheard :], samples])
        if self._is_paced:
            self.busy_until = max(self.busy_until, now + DELAY_SECONDS) + len(samples) / sample_rate
        else:
            self.busy_until = now
        self._outbox.put(scaled(samples, self._gain).astype("<i2").tobytes())

    def _unheard(self, now: float) -> int:
        left = round((self.busy_until - now) * self._sample_rate)
        return min(max(left, 0), len(self._sent))

    def _cut_off(self) -> Samples:
        """Have the place drop what was not heard yet; return that as it was before the gain."""
        now = self._clock()
        unheard = self._unheard(now)
        rest = self._sent[len(self._sent) - unheard :]
        self.busy_until = min(self.busy_until, now)
        self._end(is_cut=True)
        return rest

    def _end(self, *, is_cut: bool) -> None:
        if not self._sample_rate:
            return
        self._sent, self._sample_rate = self._sent[:0], 0
        if is_cut:
            self._outbox.drop_sound()
        self._outbox.put(SoundEnds(self._event_id, is_cut))

    async def _until_left(self, seconds: float) -> None:
        """Wait until no more than so many seconds are ahead. Raises `DeviceUnavailable`."""
        while not self._outbox.gone.is_set():
            await self._outbox.until_sound_waits(MOST_SOUND if seconds else 0)
            left = self.busy_until - self._clock() - seconds if self._is_paced else 0.0
            is_held = self._held is not None and (bool(len(self._held)) or seconds > 0)
            if left <= 0 and not is_held:
                break
            self._changed.clear()
            await until_set(self._changed, None if is_held else left)
        if self._outbox.gone.is_set():
            raise DeviceUnavailable(f"{self.name} is gone; what is left of the reply is in writing")

    def give_up(self) -> None:
        """Take that the place is gone: whoever waits is told."""
        self._changed.set()
