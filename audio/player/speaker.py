"""The loudspeaker, by PortAudio through sounddevice."""

from collections.abc import Sequence
from itertools import product
from types import ModuleType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from audio.devices import sounddevice
from audio.errors import DeviceUnavailable
from audio.player.live import Filler, LivePlayer, OutputFormat, fill_channels
from audio.portaudio import DEVICES

RATE = 48_000
"""Hz, tried first; then the device's own."""

CHANNELS = (1, 2)
"""Tried in order: bare hardware often has no mono."""

LATENCY_SECONDS = 0.06
"""Asked of the device: enough for a callback in Python on a busy box, and a fifth of what barge-in may take."""

IDLE_BLOCKS = 100
"""Silent ones in a row (1 s at least) after which nobody would miss it."""

BUSY = "another program may be using it; choose another one in the configuration"


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
    """An `Output` of sounddevice."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._settings: dict[str, int | str] = {}
        """What sounddevice opens a stream with."""
        self._stream: _Stream | None = None
        self._silent_blocks = 0
        """In a row, up to now."""

    def open(self) -> OutputFormat:
        """Choose device, rate and channels. Raises `DeviceUnavailable`."""
        module = sounddevice()
        DEVICES.refresh(module)
        try:
            index, name, native_rate = self._chosen(module)
        except DeviceUnavailable:
            DEVICES.refresh(module, is_missing=True)
            index, name, native_rate = self._chosen(module)
        reason = ""
        for rate, channels in product((RATE, native_rate), CHANNELS):
            settings: dict[str, int | str] = {
                "device": index,
                "samplerate": rate,
                "channels": channels,
                "dtype": "int16",
            }
            try:
                module.check_output_settings(**settings)
            except module.PortAudioError as error:
                reason = str(error)
            else:
                self._settings = settings
                return OutputFormat(name, rate, LATENCY_SECONDS)
        raise DeviceUnavailable(f"the loudspeaker {name!r} cannot be opened ({reason}): {BUSY}")

    def begin(self, fill: Filler) -> None:
        """Open the stream and start it. Raises `DeviceUnavailable`."""
        module = sounddevice()

        def callback(out: NDArray[np.int16], frames: int, times: _Times, status: object) -> None:
            fill_channels(fill, out, max(0.0, times.outputBufferDacTime - times.currentTime))
            self._silent_blocks = 0 if out.any() else self._silent_blocks + 1

        try:
            self._stream = module.OutputStream(**self._settings, latency=LATENCY_SECONDS, callback=callback)
            self._stream.start()
        except module.PortAudioError as error:
            self.close()
            raise DeviceUnavailable(f"the loudspeaker cannot be opened ({error}): {BUSY}") from error
        DEVICES.opened(self)

    def is_idle(self) -> bool:
        """Whether it has been silent for a while."""
        return self._silent_blocks > IDLE_BLOCKS

    def give_up(self) -> None:
        """End the stream, because the list of devices is read anew; whoever plays notices that nothing is asked for."""
        self.close()

    def close(self) -> None:
        """Stop at once and release the device; safe to call twice."""
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()
        DEVICES.closed(self)

    def _chosen(self, module: ModuleType) -> tuple[int, str, int]:
        """Return index, name and native rate (Hz) of the device. Raises `DeviceUnavailable`."""
        devices = module.query_devices()
        index = choose_device(
            self._device,
            [(device["name"], device["max_output_channels"]) for device in devices],
            module.default.device["output"],
        )
        return index, devices[index]["name"], int(devices[index]["default_samplerate"])


def choose_device(wanted: str, devices: Sequence[tuple[str, int]], default: int) -> int:
    """Return the index of the first output whose name has `wanted` in it, of `default` when nothing is wanted.

    `devices` are (name, output channels) in the sound system's order. Raises `DeviceUnavailable`, naming what there is.
    """
    names = [name for name, channels in devices if channels > 0]
    if not names:
        raise DeviceUnavailable("there is no loudspeaker: plug one in, or write the sound to a file with --output")
    for index, (name, channels) in enumerate(devices):
        if channels > 0 and (wanted.lower() in name.lower() if wanted else index == default):
            return index
    if wanted:
        raise DeviceUnavailable(f"no loudspeaker has {wanted!r} in its name; there are: {', '.join(names)}")
    return next(index for index, (_, channels) in enumerate(devices) if channels > 0)
