"""The microphone through sounddevice (PortAudio)."""

from typing import Protocol

from audio.capture.channels import Channels
from audio.capture.input import InputFormat, Taker, age_of, negotiated
from audio.devices.listing import SoundDevice, cannot_be_opened, find_device_anew, sounddevice
from audio.devices.portaudio import DEVICES


class _Stream(Protocol):
    def start(self) -> None: ...
    def abort(self) -> None: ...
    def close(self) -> None: ...


class _Times(Protocol):
    currentTime: float  # noqa: N815  PortAudio's name
    inputBufferAdcTime: float  # noqa: N815  PortAudio's name


class _Status(Protocol):
    input_overflow: bool


class SounddeviceInput:
    """An `Input` through sounddevice, of a microphone chosen by a part of its name; "" for the system's default."""

    def __init__(self, device: str, channels: Channels) -> None:
        self._wanted = device
        self._channels = channels
        self._device: SoundDevice | None = None
        self._format = InputFormat("", 0, 0)
        self._stream: _Stream | None = None
        self._take: Taker = _nobody

    def open(self) -> InputFormat:
        """Choose device, rate and channels. Raises `DeviceUnavailable`."""
        device, module = find_device_anew(self._wanted, "input"), sounddevice()

        def refusal(rate: int, channels: int) -> str:
            try:
                module.check_input_settings(device=device.index, samplerate=rate, channels=channels, dtype="int16")
            except module.PortAudioError as error:
                return str(error)
            return ""

        self._device, self._format = device, negotiated(device, self._channels, refusal)
        return self._format

    def begin(self, take: Taker) -> None:
        """Open the stream and start it. Raises `DeviceUnavailable`."""
        module, opened = sounddevice(), self._format
        rate = opened.sample_rate

        def callback(pcm: object, frames: int, times: _Times, status: _Status) -> None:
            age = age_of(times.currentTime, times.inputBufferAdcTime, frames / rate)
            take(bytes(pcm), age, status.input_overflow)  # type: ignore[call-overload]  # a cffi buffer

        def finished() -> None:
            if self._stream is stream:  # it ended by itself: the sound server is gone
                take(b"", 0.0, False)

        stream: _Stream | None = None
        try:
            stream = module.RawInputStream(
                device=self._device.index if self._device else None,
                samplerate=rate,
                channels=opened.channels,
                blocksize=opened.block_frames,
                dtype="int16",
                callback=callback,
                finished_callback=finished,
            )
            self._stream, self._take = stream, take
            stream.start()
        except module.PortAudioError as error:
            self.close()
            raise cannot_be_opened("input", opened.name, error) from error
        DEVICES.opened(self)

    def is_idle(self) -> bool:
        """No: whoever speaks now would not be heard."""
        return False

    def give_up(self) -> None:
        """End the stream, because the list of devices is read anew; whoever listens is told."""
        self._take(b"", 0.0, False)
        self.close()

    def close(self) -> None:
        """Stop at once and release the device; safe to call twice."""
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.abort()
            stream.close()
        DEVICES.closed(self)


def _nobody(pcm: bytes, age: float, overflowed: bool) -> None:
    """Nobody listens yet."""
