"""PyAudio, the optional second backend: devices by name, the microphone and the loudspeaker (PortAudio)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from audio.capture.channels import Channels
from audio.capture.input import InputFormat, Taker, age_of, negotiated
from audio.devices.listing import SoundDevice, cannot_be_opened, choose, no_answer
from audio.errors import DeviceUnavailable
from audio.playback.live import Filler, OutputFormat, fill_channels
from audio.playback.speaker import formats_to_try

if TYPE_CHECKING:
    import pyaudio

INT16: Final = 8
"""`pyaudio.paInt16`."""

OVERFLOWED: Final = 2
"""`pyaudio.paInputOverflow`, a bit of a callback's status."""

GO_ON: Final = 0
"""`pyaudio.paContinue`, what a callback answers."""


def open_portaudio() -> "pyaudio.PyAudio":
    """Return PortAudio, to be ended with `terminate`. Raises `DeviceUnavailable` without PyAudio, or a sound system."""
    try:
        import pyaudio
    except ImportError as error:
        raise DeviceUnavailable(
            'PyAudio is not installed; pip install "nakari[pyaudio]" (needs portaudio19-dev and a compiler), '
            "or set the backend to sounddevice"
        ) from error
    try:
        return pyaudio.PyAudio()
    except OSError as error:
        raise no_answer(error) from error


def list_devices(portaudio: "pyaudio.PyAudio") -> tuple[SoundDevice, ...]:
    """Return all devices in PortAudio's order."""
    default_input, default_output = _default(portaudio, "Input"), _default(portaudio, "Output")
    found = (portaudio.get_device_info_by_index(index) for index in range(portaudio.get_device_count()))
    return tuple(
        SoundDevice(
            index=int(each["index"]),
            name=str(each["name"]),
            inputs=int(each["maxInputChannels"]),
            outputs=int(each["maxOutputChannels"]),
            sample_rate=float(each["defaultSampleRate"]),
            is_default_input=each["index"] == default_input,
            is_default_output=each["index"] == default_output,
        )
        for each in found
    )


def _default(portaudio: "pyaudio.PyAudio", kind: Literal["Input", "Output"]) -> int:
    """Return the index of the system's default device; -1 when there is none."""
    ask = portaudio.get_default_input_device_info if kind == "Input" else portaudio.get_default_output_device_info
    try:
        return int(ask()["index"])
    except OSError:
        return -1


class PyAudioInput:
    """An `Input` of PyAudio; PortAudio is opened and closed with it."""

    def __init__(self, device: str, channels: Channels) -> None:
        self._wanted = device
        self._channels = channels
        self._portaudio: pyaudio.PyAudio | None = None
        self._device: SoundDevice | None = None
        self._format = InputFormat("", 0, 0)
        self._stream: pyaudio.Stream | None = None

    def open(self) -> InputFormat:
        """Choose device, rate and channels. Raises `DeviceUnavailable`."""
        self._portaudio = portaudio = open_portaudio()
        self._device = device = choose(list_devices(portaudio), self._wanted, "input")

        def refusal(rate: int, channels: int) -> str:
            try:
                portaudio.is_format_supported(
                    rate, input_device=device.index, input_channels=channels, input_format=INT16
                )
            except ValueError as error:
                return str(error)
            return ""

        self._format = negotiated(device, self._channels, refusal)
        return self._format

    def begin(self, take: Taker) -> None:
        """Open the stream and start it. Raises `DeviceUnavailable`."""
        opened = self._format

        def callback(pcm: bytes | None, frames: int, times: Mapping[str, float], status: int) -> tuple[None, int]:
            age = age_of(times["current_time"], times["input_buffer_adc_time"], frames / opened.sample_rate)
            take(pcm or b"", age, bool(status & OVERFLOWED))
            return None, GO_ON

        if self._portaudio is None or self._device is None:
            raise DeviceUnavailable("the microphone was not opened")
        try:
            self._stream = self._portaudio.open(
                input_device_index=self._device.index,
                rate=opened.sample_rate,
                channels=opened.channels,
                format=INT16,
                input=True,
                frames_per_buffer=opened.block_frames,
                stream_callback=callback,
            )
        except OSError as error:
            raise cannot_be_opened("input", opened.name, error) from error

    def close(self) -> None:
        """Stop and release the device, and PortAudio; safe to call twice."""
        stream, self._stream = self._stream, None
        portaudio, self._portaudio = self._portaudio, None
        if stream is not None:
            stream.close()
        if portaudio is not None:
            portaudio.terminate()


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
