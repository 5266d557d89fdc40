"""What the doctor looks at of the sound card: its devices, how loud the microphone is, and its echo."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from appliance.config.load import Config
from appliance.doctor.child import Broken, Culprit, printed
from appliance.doctor.examine import Check, Line, Verdict, told_by_service
from appliance.doctor.sound.devices import SoundDevices
from audio.devices.portaudio import what_fixes_silence
from memory.json_value import Json

if TYPE_CHECKING:  # it needs numpy, which only `level` has to wait for
    from appliance.doctor.sound.level import SoundLevel

QUIET_PEAK: Final = 16
"""Of 32768 (-66 dBFS): the noise of a room alone is louder at a gain that lets speech through."""

CLIPPED_SHARE: Final = 0.001
"""Of the samples at full scale, from which on words suffer."""

CLIPPED_CHUNKS: Final = 0.01
"""Of the running service's chunks with such a sample: a second of speech that is cut off in a minute and a half."""

_MONITOR: Final = "plug the microphone in, or set [ears] device; `pactl set-default-source` chooses the server's own"

_GAIN_DOWN: Final = "turn the microphone's gain down (alsamixer), then look again"

_PORTAUDIO: Final = Culprit(
    "PortAudio", "look at ~/.asoundrc and /etc/asound.conf; apt reinstall libasound2-data", what_fixes_silence
)


def listed(microphone: str, loudspeaker: str) -> SoundDevices:
    """Return the sound devices, and which of them these settings choose. Raises `Broken`."""
    devices = (microphone, loudspeaker)
    return SoundDevices(**json.loads(printed("sound", _PORTAUDIO, "appliance.doctor.sound.devices", *devices)))


def sound(config: Config) -> Line:
    """List the sound devices in a process of its own: PortAudio chatters, hangs and aborts."""
    try:
        found = listed(config.ears.device, config.voice.device)
    except Broken as broken:
        return broken.line
    return judge_devices(found, bool(config.ears.device or config.voice.device))


def tone(loudspeaker: str) -> Line:
    """Play a bell on the loudspeaker, in a process of its own; no check of the doctor's, which makes no noise."""
    try:
        told = json.loads(printed("tone", _PORTAUDIO, "appliance.doctor.sound.tone", loudspeaker))
    except Broken as broken:
        return broken.line
    if told["missing"]:
        return Line("tone", Verdict.FAULT, told["missing"])
    return Line("tone", Verdict.OK, f"a bell was played on {told['name']}; if it was not heard, turn its volume up")


def level(config: Config) -> Line:
    """Listen for a second, in a process of its own; nothing of it is kept."""
    from appliance.doctor.sound.level import SoundLevel

    try:
        devices = (config.voice.device, msgspec.json.encode(config.ears).decode())
        found = SoundLevel(**json.loads(printed("level", _PORTAUDIO, "appliance.doctor.sound.level", *devices)))
    except Broken as broken:
        return broken.line
    return judge_microphone(found, told_by_service(config.sockets, "ears"))


def judge_microphone(found: "SoundLevel", told: Mapping[str, Json]) -> Line:
    """Judge what was heard of the microphone; `told` is what a running service tells of its ears, empty without one."""
    match told.get("microphone"):
        case {"state": "stalled" | "lagging" | "zeros" | "monitor", "reason": str(reason)}:
            return Line("level", Verdict.FAULT, f"the running service says: {reason}")
    if found.is_monitor:
        what = "the microphone is the loudspeaker's monitor: nakari hears itself"
        return Line("level", Verdict.FAULT, what, _MONITOR)
    if found.missing and told.get("source", "none") != "none":
        return judge_heard(told.get("level"))
    if found.missing:
        return Line("level", Verdict.WARNING, f"not measured: {found.missing}")
    return judge_level(found.peak, found.dbfs, found.clipped)


def judge_devices(found: SoundDevices, is_named: bool) -> Line:
    """Judge the devices; what nobody asked for by name (`is_named`) may be missing, the box has other doors."""
    what = f"microphones: {', '.join(found.input) or 'none'}; loudspeakers: {', '.join(found.output) or 'none'}"
    if found.missing:
        return Line("sound", Verdict.FAULT if is_named else Verdict.WARNING, found.missing)
    if found.wrong:
        return Line("sound", Verdict.FAULT, "; ".join(found.wrong), "correct [ears] device or [voice] device")
    if not (found.input and found.output):
        return Line("sound", Verdict.WARNING, what, "plug one in, or write to it with `nakari ask`")
    return Line("sound", Verdict.OK, what)


def judge_level(peak: int, dbfs: float, clipped: float) -> Line:
    """Judge a second of sound: its largest sample (0 to 32768), RMS level and share of samples at full scale."""
    if peak == 0:
        what = "the microphone gives nothing but zeros: it is muted, or another one is meant"
        return Line("level", Verdict.FAULT, what, "unmute it (a switch on it, or alsamixer), or set [ears] device")
    what = f"{dbfs:.0f} dBFS during one second"
    if clipped > CLIPPED_SHARE:
        what = f"{what}, {clipped:.1%} of it cut off at full scale"
        return Line("level", Verdict.WARNING, what, _GAIN_DOWN)
    if peak < QUIET_PEAK:
        what = f"{what}: too quiet even for an empty room"
        return Line("level", Verdict.WARNING, what, "turn the microphone's gain up (alsamixer), then look again")
    return Line("level", Verdict.OK, what)


def judge_heard(level: Json) -> Line:
    """Judge what the running service, which has the microphone, tells of the last half minute (`LevelWatch`)."""
    what = "not measured: the running service has the microphone"
    match level:
        case {"clipped_chunks": float(clipped)} if clipped > CLIPPED_CHUNKS:
            what = f"the running service hears {clipped:.0%} of its sound cut off at full scale"
            return Line("level", Verdict.WARNING, what, _GAIN_DOWN)
        case {"peak_dbfs": float(peak)}:
            what = f"{what}, and heard at most {peak:.0f} dBFS in the last half minute"
    return Line("level", Verdict.OK, what)


def echo(config: Config) -> Line:
    """Tell whether nakari's own voice is taken out of what it hears, and what of it was measured."""
    from audio.echo.canceller import has_canceller

    if not config.ears.cancel_echo:
        return Line("echo", Verdict.OK, "not cancelled, by [ears] cancel_echo: nakari does not listen while it speaks")
    if missing := judge_canceller(is_there=has_canceller()):
        return missing
    duplex = told_by_service(config.sockets, "ears").get("duplex")
    if not isinstance(duplex, str):
        return Line("echo", Verdict.OK, "there is a canceller; a running service measures what it leaves")
    return judge_echo(duplex)


def judge_canceller(*, is_there: bool) -> Line | None:
    """Judge that there is no canceller; None where there is one."""
    from audio.echo.control import MISSING

    fix = "run scripts/setup; until then it does not listen while it speaks"
    return None if is_there else Line("echo", Verdict.WARNING, MISSING, fix)


def judge_echo(duplex: str) -> Line:
    """Judge how the running service listens while it speaks, by its own sentence (`Duplex.describe`)."""
    from audio.echo.duplex import NOT_MEASURED, Mode

    if not duplex.startswith(Mode.HALF):
        return Line("echo", Verdict.OK, duplex)
    fix = "run scripts/setup"
    if "dB is left" in duplex:
        fix = "put the microphone away from the loudspeaker or turn that down, then run `nakari calibrate`"
    elif NOT_MEASURED in duplex:
        fix = "run `nakari calibrate`, or let nakari speak aloud: that is when it is measured"
    return Line("echo", Verdict.WARNING, duplex, fix)


class Tried(Struct, frozen=True):
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


CHECKS: tuple[Check, ...] = (sound, level, echo)
