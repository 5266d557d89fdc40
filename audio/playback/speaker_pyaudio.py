"""The loudspeaker through PyAudio (PortAudio), the optional second backend."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from audio.devices.listing import cannot_be_opened, choose
from audio.devices.listing_pyaudio import GO_ON, INT16, list_devices, open_portaudio
from audio.playback.live import Filler, OutputFormat, fill_channels
from audio.playback.speaker import formats_to_try

if TYPE_CHECKING:
    import pyaudio

BLOCK_SECONDS = 0.02
"""What the device asks for at a time; PortAudio chooses the latency with it."""


class PyAudioOutput:
    """An `Output` of PyAudio, on a loudspeaker chosen by a part of its name; empty for the system's default."""

    def __init__(self, device: str) -> None:
        self._wanted = device
        self._name = ""
        """What was opened."""
        self._settings: dict[str, int] = {}
        """What PyAudio opens a stream with."""
        self._portaudio: pyaudio.PyAudio | None = None
        self._stream: pyaudio.Stream | None = None

    def open(self) -> OutputFormat:
        """Choose device, rate and channels. Raises `DeviceUnavailable`."""
        self._portaudio = open_portaudio()
        device = choose(list_devices(self._portaudio), self._wanted, "output")
        reason = ""
        for rate, channels in formats_to_try(device):
            try:
                self._portaudio.is_format_supported(
                    rate, output_device=device.index, output_channels=channels, output_format=INT16
                )
            except ValueError as error:
                reason = str(error.args[0])
            else:
                self._name = device.name
                self._settings = {"output_device_index": device.index, "rate": rate, "channels": channels}
                return OutputFormat(device.name, rate, 2 * BLOCK_SECONDS)
        raise cannot_be_opened("output", device.name, reason)

    def begin(self, fill: Filler) -> None:
        """Open the stream and start it. Raises `DeviceUnavailable`."""
        assert self._portaudio is not None, "open comes first"
        channels = self._settings["channels"]

        def callback(_: bytes | None, frames: int, times: Mapping[str, float], __: int) -> tuple[bytes, int]:
            out = np.empty((frames, channels), np.int16)
            fill_channels(fill, out, max(0.0, times["output_buffer_dac_time"] - times["current_time"]))
            return out.tobytes(), GO_ON

        try:
            self._stream = self._portaudio.open(
                **self._settings,
                format=INT16,
                output=True,
                frames_per_buffer=round(BLOCK_SECONDS * self._settings["rate"]),
                stream_callback=callback,
            )
        except OSError as error:
            raise cannot_be_opened("output", self._name, error) from error

    def close(self) -> None:
        """Stop and release the device; safe to call twice."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None
        if self._portaudio is not None:
            self._portaudio.terminate()
            self._portaudio = None
