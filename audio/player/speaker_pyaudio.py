"""The loudspeaker, by PortAudio through PyAudio: the optional second backend."""

from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from audio.errors import DeviceUnavailable
from audio.player.live import Filler, LivePlayer, OutputFormat, fill_channels
from audio.player.speaker import BUSY, CHANNELS, RATE, choose_device

if TYPE_CHECKING:
    import pyaudio

BLOCK_SECONDS = 0.02
"""What the device asks for at a time; PortAudio chooses the latency with it."""

PLAY_ON = 0
"""PyAudio's paContinue."""


class PyAudioPlayer(LivePlayer):
    """A `Player` on a loudspeaker chosen by a part of its name; empty for the system's default."""

    def __init__(self, device: str = "") -> None:
        super().__init__(PyAudioOutput(device), device or "the default loudspeaker")


class PyAudioOutput:
    """An `Output` of PyAudio."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._settings: dict[str, int] = {}
        """What PyAudio opens a stream with."""
        self._portaudio: pyaudio.PyAudio | None = None
        self._stream: pyaudio.Stream | None = None

    def open(self) -> OutputFormat:
        """Choose device, rate and channels. Raises `DeviceUnavailable`."""
        try:
            import pyaudio
        except ImportError as error:
            raise DeviceUnavailable("PyAudio is missing: `pip install pyaudio`, or use sounddevice") from error
        self._portaudio = portaudio = pyaudio.PyAudio()
        devices = [portaudio.get_device_info_by_index(index) for index in range(portaudio.get_device_count())]
        outputs = [(str(device["name"]), int(device["maxOutputChannels"])) for device in devices]
        index = choose_device(self._device, outputs, _default_output(portaudio))
        reason = ""
        for rate, channels in product((RATE, int(devices[index]["defaultSampleRate"])), CHANNELS):
            try:
                portaudio.is_format_supported(
                    rate, output_device=index, output_channels=channels, output_format=pyaudio.paInt16
                )
            except ValueError as error:
                reason = str(error.args[0])
            else:
                self._settings = {"output_device_index": index, "rate": rate, "channels": channels}
                return OutputFormat(outputs[index][0], rate, 2 * BLOCK_SECONDS)
        raise DeviceUnavailable(f"the loudspeaker {outputs[index][0]!r} cannot be opened ({reason}): {BUSY}")

    def begin(self, fill: Filler) -> None:
        """Open the stream and start it. Raises `DeviceUnavailable`."""
        import pyaudio

        assert self._portaudio is not None, "open comes first"
        channels = self._settings["channels"]

        def callback(_: bytes | None, frames: int, times: Mapping[str, float], __: int) -> tuple[bytes, int]:
            out = np.empty((frames, channels), np.int16)
            fill_channels(fill, out, max(0.0, times["output_buffer_dac_time"] - times["current_time"]))
            return out.tobytes(), PLAY_ON

        try:
            self._stream = self._portaudio.open(
                **self._settings,
                format=pyaudio.paInt16,
                output=True,
                frames_per_buffer=round(BLOCK_SECONDS * self._settings["rate"]),
                stream_callback=callback,
            )
        except OSError as error:
            raise DeviceUnavailable(f"the loudspeaker cannot be opened ({error}): {BUSY}") from error

    def close(self) -> None:
        """Stop and release the device; safe to call twice."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None
        if self._portaudio is not None:
            self._portaudio.terminate()
            self._portaudio = None


def _default_output(portaudio: "pyaudio.PyAudio") -> int:
    """Return the index of the default output; -1 when there is none."""
    try:
        return int(portaudio.get_default_output_device_info()["index"])
    except OSError:
        return -1
