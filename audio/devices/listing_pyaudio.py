"""Microphones and loudspeakers by name through PyAudio, the optional second backend."""

from typing import TYPE_CHECKING, Final, Literal

from audio.devices.listing import SoundDevice, no_answer
from audio.errors import DeviceUnavailable

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
