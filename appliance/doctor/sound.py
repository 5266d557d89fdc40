"""What the doctor looks at of the sound card: its devices, and how loud the microphone is."""

import json
from typing import Final

from appliance.config.load import Config
from appliance.doctor.child import Broken, Culprit, printed
from appliance.doctor.examine import Check, Line, Verdict
from appliance.doctor.service import told_by_service
from appliance.doctor.sound_devices import SoundDevices

QUIET_PEAK: Final = 16
"""Of 32768 (-66 dBFS): the noise of a room alone is louder at a gain that lets speech through."""

CLIPPED_SHARE: Final = 0.001
"""Of the samples at full scale, from which on words suffer."""


_MONITOR: Final = "plug the microphone in, or set [ears] device; `pactl set-default-source` chooses the server's own"

_PORTAUDIO: Final = Culprit(
    "PortAudio", "look at ~/.asoundrc and /etc/asound.conf; apt reinstall libasound2-data", "restart the sound server"
)


def listed(microphone: str, loudspeaker: str) -> SoundDevices:
    """Return the sound devices, and which of them these settings choose. Raises `Broken`."""
    devices = (microphone, loudspeaker)
    return SoundDevices(**json.loads(printed("sound", _PORTAUDIO, "appliance.doctor.sound_devices", *devices)))


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
        told = json.loads(printed("tone", _PORTAUDIO, "appliance.doctor.sound_tone", loudspeaker))
    except Broken as broken:
        return broken.line
    if told["missing"]:
        return Line("tone", Verdict.FAULT, told["missing"])
    return Line("tone", Verdict.OK, f"a bell was played on {told['name']}; if it was not heard, turn its volume up")


def level(config: Config) -> Line:
    """Listen for a second, in a process of its own; nothing of it is kept."""
    from appliance.doctor.sound_level import SoundLevel

    try:
        devices = (config.ears.backend, config.ears.device, config.voice.device)
        found = SoundLevel(**json.loads(printed("level", _PORTAUDIO, "appliance.doctor.sound_level", *devices)))
    except Broken as broken:
        return broken.line
    ears = told_by_service(config.sockets, "ears")
    match ears.get("microphone"):
        case {"state": "stalled" | "lagging" | "zeros" | "monitor", "reason": str(reason)}:
            return Line("level", Verdict.FAULT, f"the running service says: {reason}")
    if found.is_monitor:
        what = "the microphone is the loudspeaker's monitor: nakari hears itself"
        return Line("level", Verdict.FAULT, what, _MONITOR)
    if found.missing and ears.get("source", "none") != "none":
        return Line("level", Verdict.OK, "not measured: the running service has the microphone")
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
        return Line("level", Verdict.WARNING, what, "turn the microphone's gain down (alsamixer), then look again")
    if peak < QUIET_PEAK:
        what = f"{what}: too quiet even for an empty room"
        return Line("level", Verdict.WARNING, what, "turn the microphone's gain up (alsamixer), then look again")
    return Line("level", Verdict.OK, what)


CHECKS: tuple[Check, ...] = (sound, level)
