"""The loudspeaker through sounddevice (PortAudio)."""

from itertools import product
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from audio.devices.listing import SoundDevice, cannot_be_opened, find_device_anew, sounddevice
from audio.devices.portaudio import DEVICES
from audio.playback.live import Filler, LivePlayer, OutputFormat, fill_channels

RATE = 48_000
"""Hz, tried first; then the device's own. A card that is named is asked itself, and PortAudio converts its format. Of
what lies behind ALSA's "default" nobody tells the rate: PortAudio's list says what that makes of 44.1 kHz."""

CHANNELS = (2, 1)
"""Tried in order. Most hardware has two: what ALSA has to convert for it, alsa-lib 1.2 counts, and aborts the process
where an underrun spoils its count (pcm_plugin.c, snd_pcm_plugin_status; seen on an emulated board with USB sound)."""

BLOCK_SECONDS = 0.02
"""What the device asks for at a time; left to itself it wakes this process twice as often, for silence too."""

LATENCY_SECONDS = 0.06
"""Asked of the device: enough for a callback in Python on a busy box, and a fifth of what barge-in may take."""

IDLE_BLOCKS = 100
"""Silent ones in a row (1 s at least) after which nobody would miss it."""


class SpeakerPlayer(LivePlayer):
    """A `Player` on a loudspeaker chosen by a part of its name; empty for the system's default."""

    def __init__(self, device: str = "") -> None:
        super().__init__(SounddeviceOutput(device), device or "the default loudspeaker")


class _Stream(Protocol):
    def start(self) -> None: ...
    def close(self) -> None: ...


class _Times(Protocol):
    """PortAudio's, of one callback: seconds on the stream's clock."""

    currentTime: float  # noqa: N815
    outputBufferDacTime: float  # noqa: N815


class SounddeviceOutput:
    """An `Output` through sounddevice."""

    def __init__(self, device: str) -> None:
        self._wanted = device
        self._name = ""
        """What was opened."""
        self._settings: dict[str, int | str] = {}
        """What sounddevice opens a stream with."""
        self._stream: _Stream | None = None
        self._fill: Filler | None = None
        self._silent_blocks = 0
        """In a row, up to now."""

    def open(self) -> OutputFormat:
        """Choose device, rate and channels. Raises `DeviceUnavailable`."""
        device, module = find_device_anew(self._wanted, "output"), sounddevice()
        reason = ""
        for rate, channels in formats_to_try(device):
            settings: dict[str, int | str] = {
                "device": device.index,
                "samplerate": rate,
                "channels": channels,
                "dtype": "int16",
            }
            try:
                module.check_output_settings(**settings)
            except module.PortAudioError as error:
                reason = str(error)
            else:
                self._name, self._settings = device.name, settings
                return OutputFormat(device.name, rate, LATENCY_SECONDS)
        raise cannot_be_opened("output", device.name, reason)

    def begin(self, fill: Filler) -> None:
        """Open the stream and start it. Raises `DeviceUnavailable`."""
        module = sounddevice()

        def callback(out: NDArray[np.int16], frames: int, times: _Times, status: object) -> None:
            fill_channels(fill, out, max(0.0, times.outputBufferDacTime - times.currentTime))
            self._silent_blocks = 0 if out.any() else self._silent_blocks + 1

        try:
            block = round(BLOCK_SECONDS * int(self._settings["samplerate"]))
            self._stream = module.OutputStream(
                **self._settings, blocksize=block, latency=LATENCY_SECONDS, callback=callback
            )
            self._fill = fill
            self._stream.start()
        except module.PortAudioError as error:
            self.close()
            raise cannot_be_opened("output", self._name, error) from error
        DEVICES.opened(self)

    def is_idle(self) -> bool:
        """Whether it has been silent for a while."""
        return self._silent_blocks > IDLE_BLOCKS

    def give_up(self) -> None:
        """End the stream, because the list of devices is read anew; whoever plays is told."""
        self.close()
        if self._fill is not None:
            self._fill(np.empty(0, np.int16), 0.0)

    def close(self) -> None:
        """Stop at once and release the device; safe to call twice."""
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()
        DEVICES.closed(self)


def formats_to_try(device: SoundDevice) -> list[tuple[int, int]]:
    """Return (Hz, channels) in the order to try."""
    return list(product((RATE, round(device.sample_rate)), CHANNELS))
