"""The microphone through PyAudio (PortAudio), the optional second backend."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from audio.capture.channels import Channels
from audio.capture.input import InputFormat, Taker, age_of, negotiated
from audio.devices.listing import SoundDevice, cannot_be_opened, choose
from audio.devices.listing_pyaudio import GO_ON, INT16, OVERFLOWED, list_devices, open_portaudio
from audio.errors import DeviceUnavailable

if TYPE_CHECKING:
    import pyaudio


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
