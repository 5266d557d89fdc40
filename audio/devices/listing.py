"""Microphones and loudspeakers by name, as PortAudio lists them; without PortAudio there are none."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from audio.devices.portaudio import DEVICES, exit_without_hanging, mute_alsa
from audio.errors import DeviceUnavailable

Kind: TypeAlias = Literal["input", "output"]

Description: TypeAlias = dict[str, Any]
"""Of one device, as sounddevice gives it."""

_WHAT: Final = {"input": "microphone", "output": "loudspeaker"}


class SoundDevice(Struct, frozen=True):
    """One device of one host API."""

    index: int
    """PortAudio's number; good until devices come or go."""
    name: str
    inputs: int
    """Channels it records; 0 for a loudspeaker."""
    outputs: int
    """Channels it plays; 0 for a microphone."""
    sample_rate: float
    """Hz, its own choice."""
    is_default_input: bool
    is_default_output: bool

    def can(self, kind: Kind) -> bool:
        """Whether it records, or plays."""
        return (self.inputs if kind == "input" else self.outputs) > 0

    def is_default(self, kind: Kind) -> bool:
        """Whether it is what the system takes when nobody names one."""
        return self.is_default_input if kind == "input" else self.is_default_output


def sounddevice() -> ModuleType:
    """Return the `sounddevice` module. Raises `DeviceUnavailable` where PortAudio is not installed."""
    is_new = "sounddevice" not in sys.modules
    try:
        module = import_module("sounddevice")
    except (OSError, ImportError) as error:
        raise DeviceUnavailable(f"there is no PortAudio ({error}); apt-get install libportaudio2") from error
    except Exception as error:  # PortAudio's own error has no name as long as its module cannot be loaded
        raise no_answer(error) from error
    if is_new:
        DEVICES.imported()
        exit_without_hanging(module)
        mute_alsa()
    return module


def list_devices() -> tuple[SoundDevice, ...]:
    """Return all devices in PortAudio's order; none where there is no PortAudio. Blocking: the first call opens it."""
    try:
        module = sounddevice()
    except DeviceUnavailable:
        return ()
    try:
        apis = module.query_hostapis()
        default_input, default_output = module.default.device
    except module.PortAudioError:  # it could not be opened again when the list was to be read anew
        return ()
    return tuple(
        SoundDevice(
            index=number,
            name=device["name"],
            inputs=device["max_input_channels"],
            outputs=device["max_output_channels"],
            sample_rate=device["default_samplerate"],
            is_default_input=number == default_input,
            is_default_output=number == default_output,
        )
        for number, device in _described(module, sorted(number for api in apis for number in api["devices"]))
    )


def find_device(substring: str, kind: Kind) -> SoundDevice:
    """Return the system's default device for "", else the best match of the name, upper and lower case alike.

    Raises `DeviceUnavailable`, naming what there is, when none matches.
    """
    sounddevice()
    return choose(list_devices(), substring, kind)


def find_device_anew(substring: str, kind: Kind) -> SoundDevice:
    """Find as `find_device` does, among the devices there are now. On the sound thread (see `DeviceList.refresh`)."""
    is_new = _read_anew(is_missing=False)
    try:
        return find_device(substring, kind)
    except DeviceUnavailable:
        if is_new or not _read_anew(is_missing=True):
            raise
        return find_device(substring, kind)


def choose(devices: tuple[SoundDevice, ...], substring: str, kind: Kind) -> SoundDevice:
    """Choose as `find_device` does: an equal name before a part of one, the default before others."""
    able = [device for device in devices if device.can(kind)]
    if not able:
        raise DeviceUnavailable(f"there is no {_WHAT[kind]} on this machine; plug one in, or use a recording or a file")
    if not substring:
        defaults = [device for device in able if device.is_default(kind)]
        return defaults[0] if defaults else able[0]
    wanted = substring.casefold()
    matching = [device for device in able if wanted in device.name.casefold()]
    if not matching:
        names = ", ".join(dict.fromkeys(device.name for device in able))
        raise DeviceUnavailable(f"no {_WHAT[kind]} is called {substring!r}; there are: {names}")
    return min(matching, key=lambda each: (each.name.casefold() != wanted, not each.is_default(kind), each.index))


def cannot_be_opened(kind: Kind, name: str, reason: object) -> DeviceUnavailable:
    """Return the error of a device that is there and refuses, with the fix; `reason` is what PortAudio says."""
    return DeviceUnavailable(
        f"the {_WHAT[kind]} {name!r} cannot be opened ({reason}): "
        "another program may be using it; choose another one in the configuration"
    )


def _read_anew(*, is_missing: bool) -> bool:
    module = sounddevice()
    try:
        return DEVICES.refresh(module, is_missing=is_missing)
    except module.PortAudioError as error:
        raise no_answer(error) from error


def _described(module: ModuleType, numbers: Iterable[int]) -> Iterator[tuple[int, Description]]:
    """Yield each device that has a name: the kernel cuts long ones, at times in the middle of a character."""
    for number in numbers:
        with suppress(UnicodeDecodeError):
            yield number, module.query_devices(number)


def no_answer(reason: object) -> DeviceUnavailable:
    """Return the error of a sound system that PortAudio cannot open; `reason` is what it says."""
    return DeviceUnavailable(f"the sound system cannot be opened ({reason}); restart the sound server")
