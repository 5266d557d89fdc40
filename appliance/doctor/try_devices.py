"""What `nakari devices` tells: every sound device, the chosen ones, and how they sound."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from appliance.config.load import Config
from appliance.doctor.child import Broken
from appliance.doctor.examine import Line, Verdict
from appliance.doctor.sound import level, listed, sound, tone
from appliance.doctor.sound_devices import SoundDevices


@dataclass(frozen=True, slots=True)
class Tried:
    """The devices, and what was found out about them."""

    devices: SoundDevices
    found: Sequence[Line] = ()

    @property
    def has_fault(self) -> bool:
        """Whether something that was asked for does not work."""
        return any(line.verdict is Verdict.FAULT for line in self.found)


def tried(config: Config, *, test: bool) -> Tried:
    """Return the devices; with `test` after a tone was played and the microphone's level measured."""
    try:
        devices = listed(config.ears.device, config.voice.device)
    except Broken as broken:
        return Tried(SoundDevices(), [broken.line])
    if test and devices.input and devices.output and not devices.wrong:
        return Tried(devices, [tone(config.voice.device), level(config)])
    judged = sound(config)
    return Tried(devices, [] if judged.verdict is Verdict.OK else [judged])


def lines(tried: Tried) -> Iterator[str]:
    """Yield what a person reads; a star marks what the configuration chooses."""
    devices = tried.devices
    chosen = devices.chosen or ["", ""]
    for title, names, name in (
        ("microphones", devices.input, chosen[0]),
        ("loudspeakers", devices.output, chosen[1]),
    ):
        yield f"{title}:" if names else f"{title}: none"
        yield from (f"  {'*' if each == name else ' '} {each}" for each in names)
    yield from (str(line) for line in tried.found)
