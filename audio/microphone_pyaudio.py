"""The microphone, by PortAudio through PyAudio: the optional second backend."""

from importlib import import_module
from types import ModuleType
from typing import Final, Protocol, cast

from audio.capture import InputFormat, LiveMicrophone, Taker, age_of, formats_to_try
from audio.devices import SoundDevice, choose
from audio.errors import DeviceUnavailable

BUSY: Final = "another program may be using it; choose another one in the configuration"


class PyAudioMicrophone(LiveMicrophone):
    """An `AudioSource` on a microphone chosen by a part of its name; "" for the system's default."""

    def __init__(self, device: str = "") -> None:
        super().__init__(PyAudioInput(device), device or "the default microphone")


class _Stream(Protocol):
    def close(self) -> None: ...


class _PortAudio(Protocol):
    """What of `pyaudio.PyAudio` is used."""

    def get_device_count(self) -> int: ...
    def get_device_info_by_index(self, index: int) -> dict[str, str | int | float]: ...
    def get_default_input_device_info(self) -> dict[str, str | int | float]: ...
    def is_format_supported(self, rate: float, **settings: object) -> bool: ...
    def open(self, **settings: object) -> _Stream: ...
    def terminate(self) -> None: ...


class PyAudioInput:
    """An `Input` of PyAudio; PortAudio is opened and closed with it."""

    def __init__(self, device: str) -> None:
        self._wanted = device
        self._port_audio: _PortAudio | None = None
        self._device: SoundDevice | None = None
        self._format = InputFormat("", 0, 0)
        self._stream: _Stream | None = None

    def open(self) -> InputFormat:
        """Choose device, rate and channels. Raises `DeviceUnavailable`."""
        module = pyaudio()
        self._port_audio = cast("_PortAudio", module.PyAudio())
        device = choose(_devices(self._port_audio), self._wanted, "input")
        self._device, self._format = device, _negotiated(module, self._port_audio, device)
        return self._format

    def begin(self, take: Taker) -> None:
        """Open the stream and start it. Raises `DeviceUnavailable`."""
        module, opened = pyaudio(), self._format

        def callback(pcm: bytes, frames: int, times: dict[str, float], status: int) -> tuple[None, int]:
            age = age_of(times["current_time"], times["input_buffer_adc_time"], frames / opened.sample_rate)
            take(pcm, age, bool(status & module.paInputOverflow))
            return None, module.paContinue

        if self._port_audio is None or self._device is None:
            raise DeviceUnavailable("the microphone was not opened")
        try:
            self._stream = self._port_audio.open(
                input_device_index=self._device.index,
                rate=opened.sample_rate,
                channels=opened.channels,
                format=module.paInt16,
                input=True,
                frames_per_buffer=opened.block_frames,
                stream_callback=callback,
            )
        except OSError as error:
            raise DeviceUnavailable(f"the microphone {opened.name!r} cannot be opened ({error}): {BUSY}") from error

    def close(self) -> None:
        """Stop and release the device, and PortAudio; safe to call twice."""
        stream, self._stream = self._stream, None
        port_audio, self._port_audio = self._port_audio, None
        if stream is not None:
            stream.close()
        if port_audio is not None:
            port_audio.terminate()


def pyaudio() -> ModuleType:
    """Return the `pyaudio` module. Raises `DeviceUnavailable` where it is not installed."""
    try:
        return import_module("pyaudio")
    except ImportError as error:
        raise DeviceUnavailable(
            'PyAudio is not installed; pip install "nakari[pyaudio]" (needs portaudio19-dev and a compiler), '
            "or set the backend to sounddevice"
        ) from error


def _devices(port_audio: _PortAudio) -> tuple[SoundDevice, ...]:
    """Return all devices that record, in PortAudio's order."""
    try:
        default = port_audio.get_default_input_device_info()["index"]
    except OSError:
        default = -1
    found = (port_audio.get_device_info_by_index(index) for index in range(port_audio.get_device_count()))
    return tuple(
        SoundDevice(
            index=int(each["index"]),
            name=str(each["name"]),
            host_api=str(each["hostApi"]),
            inputs=int(each["maxInputChannels"]),
            outputs=int(each["maxOutputChannels"]),
            sample_rate=float(each["defaultSampleRate"]),
            is_default_input=each["index"] == default,
            is_default_output=False,
        )
        for each in found
    )


def _negotiated(module: ModuleType, port_audio: _PortAudio, device: SoundDevice) -> InputFormat:
    """Return the first format that the device takes. Raises `DeviceUnavailable` when it takes none."""
    reason = ""
    for rate, channels in formats_to_try(device.sample_rate, device.inputs):
        try:
            port_audio.is_format_supported(
                rate, input_device=device.index, input_channels=channels, input_format=module.paInt16
            )
        except ValueError as error:
            reason = str(error)
        else:
            return InputFormat(device.name, rate, channels)
    raise DeviceUnavailable(f"the microphone {device.name!r} cannot be opened ({reason}): {BUSY}")
