"""The microphone, by PortAudio through sounddevice."""

from types import ModuleType
from typing import Final, Protocol

from audio.capture import InputFormat, LiveMicrophone, Taker, age_of, formats_to_try
from audio.devices import SoundDevice, find_device, sounddevice
from audio.errors import DeviceUnavailable

BUSY: Final = "another program may be using it; choose another one in the configuration"


class MicrophoneSource(LiveMicrophone):
    """An `AudioSource` on a microphone chosen by a part of its name; "" for the system's default."""

    def __init__(self, device: str = "") -> None:
        super().__init__(SounddeviceInput(device), device or "the default microphone")


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
    """An `Input` of sounddevice."""

    def __init__(self, device: str) -> None:
        self._wanted = device
        self._device: SoundDevice | None = None
        self._format = InputFormat("", 0, 0)
        self._stream: _Stream | None = None

    def open(self) -> InputFormat:
        """Choose device, rate and channels. Raises `DeviceUnavailable`."""
        device = find_device(self._wanted, "input")
        self._device, self._format = device, _negotiated(sounddevice(), device)
        return self._format

    def begin(self, take: Taker) -> None:
        """Open the stream and start it. Raises `DeviceUnavailable`."""
        module, opened = sounddevice(), self._format
        rate = opened.sample_rate

        def callback(pcm: object, frames: int, times: _Times, status: _Status) -> None:
            age = age_of(times.currentTime, times.inputBufferAdcTime, frames / rate)
            take(bytes(pcm), age, status.input_overflow)  # type: ignore[call-overload]  # a cffi buffer

        try:
            self._stream = module.RawInputStream(
                device=self._device.index if self._device else None,
                samplerate=rate,
                channels=opened.channels,
                blocksize=opened.block_frames,
                dtype="int16",
                callback=callback,
            )
            self._stream.start()
        except module.PortAudioError as error:
            raise DeviceUnavailable(f"the microphone {opened.name!r} cannot be opened ({error}): {BUSY}") from error

    def close(self) -> None:
        """Stop at once and release the device; safe to call twice."""
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.abort()
            stream.close()


def _negotiated(module: ModuleType, device: SoundDevice) -> InputFormat:
    """Return the first format that the device takes. Raises `DeviceUnavailable` when it takes none."""
    reason = ""
    for rate, channels in formats_to_try(device.sample_rate, device.inputs):
        try:
            module.check_input_settings(device=device.index, samplerate=rate, channels=channels, dtype="int16")
        except module.PortAudioError as error:
            reason = str(error)
        else:
            return InputFormat(device.name, rate, channels)
    raise DeviceUnavailable(f"the microphone {device.name!r} cannot be opened ({reason}): {BUSY}")
