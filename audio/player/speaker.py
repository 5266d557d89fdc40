"""The loudspeaker, by PortAudio through sounddevice."""

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from audio.errors import DeviceUnavailable
from audio.player.live import Filler, LivePlayer, OutputFormat, fill_channels

if TYPE_CHECKING:
    import sounddevice

RATE = 48_000
"""Hz, tried first; then the device's own."""

CHANNELS = (1, 2)
"""Tried in order: bare hardware often has no mono."""

LATENCY_SECONDS = 0.06
"""Asked of the device: enough for a callback in Python on a busy box, and a fifth of what barge-in may take."""

BUSY = "another program may be using it; choose another one in the configuration"


class SpeakerPlayer(LivePlayer):
    """A `Player` on a loudspeaker chosen by a part of its name; empty for the system's default."""

    def __init__(self, device: str = "") -> None:
        super().__init__(SounddeviceOutput(device), device or "the default loudspeaker")


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
        self._stream: sounddevice.OutputStream | None = None

    def open(self) -> OutputFormat:
        """Choose device, rate and channels. Raises `DeviceUnavailable`."""
        try:
            import sounddevice
        except OSError as error:
            raise DeviceUnavailable("PortAudio is missing: install it with `sudo apt install libportaudio2`") from error
        devices = sounddevice.query_devices()
        index = choose_device(
            self._device,
            [(device["name"], device["max_output_channels"]) for device in devices],
            sounddevice.default.device["output"],
        )
        name = devices[index]["name"]
        reason = ""
        for rate, channels in product((RATE, int(devices[index]["default_samplerate"])), CHANNELS):
            settings: dict[str, int | str] = {
                "device": index,
                "samplerate": rate,
                "channels": channels,
                "dtype": "int16",
            }
            try:
                sounddevice.check_output_settings(**settings)
            except sounddevice.PortAudioError as error:
                reason = str(error)
            else:
                self._settings = settings
                return OutputFormat(name, rate, LATENCY_SECONDS)
        raise DeviceUnavailable(f"the loudspeaker {name!r} cannot be opened ({reason}): {BUSY}")

    def begin(self, fill: Filler) -> None:
        """Open the stream and start it. Raises `DeviceUnavailable`."""
        import sounddevice

        def callback(out: NDArray[np.int16], frames: int, times: _Times, status: object) -> None:
            fill_channels(fill, out, max(0.0, times.outputBufferDacTime - times.currentTime))

        try:
            self._stream = sounddevice.OutputStream(**self._settings, latency=LATENCY_SECONDS, callback=callback)
            self._stream.start()
        except sounddevice.PortAudioError as error:
            raise DeviceUnavailable(f"the loudspeaker cannot be opened ({error}): {BUSY}") from error

    def close(self) -> None:
        """Stop at once and release the device; safe to call twice."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None


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
