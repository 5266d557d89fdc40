"""What the doctor looks at of ears and mouth: devices, level, recognizer and its speed, voices."""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

from appliance.config.load import Config
from appliance.doctor.examine import Check, Line, Verdict, told_by_service
from appliance.doctor.sound_devices import SoundDevices
from audio.recognizer.compare import Comparison

CHILD_SECONDS: Final = 15.0
"""PortAudio can hang in a frozen sound server, a model in too little memory; their processes are killed then."""

QUIET_PEAK: Final = 16
"""Of 32768 (-66 dBFS): the noise of a room alone is louder at a gain that lets speech through."""

CLIPPED_SHARE: Final = 0.001
"""Of the samples at full scale, from which on words suffer."""


_MONITOR: Final = "plug the microphone in, or set [ears] device; `pactl set-default-source` chooses the server's own"

_SOUND_FILES: Final = "look at ~/.asoundrc and /etc/asound.conf; apt reinstall libasound2-data"

_TOO_SLOW: Final = "end what else is running, or set a smaller [ears] model"

_CULPRITS: Final = {
    "sound": ("PortAudio", _SOUND_FILES, "restart the sound server"),
    "tone": ("PortAudio", _SOUND_FILES, "restart the sound server"),
    "level": ("PortAudio", _SOUND_FILES, "restart the sound server"),
    "speed": ("the recognizer", "fetch its model again, or set a smaller [ears] model", _TOO_SLOW),
}
"""For each check with a process of its own: who runs in it, what fixes its breakdown, what fixes its hanging."""


class Broken(Exception):
    """A process of a check hung or broke down; its line says which."""

    def __init__(self, line: Line) -> None:
        super().__init__(line.what)
        self.line = line


def listed(config: Config) -> SoundDevices:
    """Return the sound devices. Raises `Broken`."""
    return SoundDevices(
        **json.loads(_printed("sound", "appliance.doctor.sound_devices", config.ears.device, config.voice.device))
    )


def sound(config: Config) -> Line:
    """List the sound devices in a process of its own: PortAudio chatters, hangs and aborts (FACTS, "Sound")."""
    try:
        found = listed(config)
    except Broken as broken:
        return broken.line
    return judge_devices(found, bool(config.ears.device or config.voice.device))


def tone(config: Config) -> Line:
    """Play a bell on the loudspeaker, in a process of its own; no check of the doctor's, who makes no noise."""
    try:
        told = json.loads(_printed("tone", "appliance.doctor.sound_tone", config.voice.device))
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
        found = SoundLevel(**json.loads(_printed("level", "appliance.doctor.sound_level", *devices)))
    except Broken as broken:
        return broken.line
    ears = told_by_service(config, "ears")
    match ears.get("microphone"):
        case {"state": "stalled" | "lagging" | "zeros" | "monitor", "reason": str(reason)}:
            return Line("level", Verdict.FAULT, f"the running service says: {reason}")
    if found.is_monitor:
        return Line("level", Verdict.FAULT, "the microphone is the loudspeaker's monitor: she hears herself", _MONITOR)
    if found.missing and ears.get("source", "none") != "none":
        return Line("level", Verdict.OK, "not measured: the running service has the microphone")
    if found.missing:
        return Line("level", Verdict.WARNING, f"not measured: {found.missing}")
    return judge_level(found.peak, found.dbfs, found.clipped)


def recognizer(config: Config) -> Line:
    """Find out which recognizer would listen, without loading its model."""
    from appliance.input.whisper.recognizers import choose_recognizer

    hearing = choose_recognizer(config)
    name = hearing.recognizer.name
    if hearing.is_last_resort:
        coming = "wait until it is fetched" if config.ears.download else "set [ears] download, or model = a folder"
        return Line(
            "recognizer", Verdict.WARNING, f"no Whisper model here; {name} understands set phrases only", coming
        )
    return Line("recognizer", Verdict.OK, name)


def speed(config: Config) -> Line:
    """Let that recognizer hear one recorded sentence of 3 s, into nothing."""
    from appliance.input.whisper.speed import RecognizerSpeed, arguments

    try:
        found = RecognizerSpeed(**json.loads(_printed("speed", "appliance.input.whisper.speed", *arguments(config))))
    except Broken as broken:
        return broken.line
    if found.missing:
        return Line("speed", Verdict.FAULT, found.missing)
    return judge_speed(found.name, found.seconds, found.of)


def window(config: Config) -> Line:
    """Tell what was found when both windows of the Whisper model were compared; that takes longer than a check may."""
    from appliance.input.whisper.choice import pick
    from appliance.input.whisper.short_window import is_short, recall

    picked = pick(config)
    if picked is None:
        return Line("window", Verdict.OK, "no Whisper model, no window to choose")
    verdict = recall(config, picked)
    comparison = verdict.comparison if verdict else None
    return judge_window(config.ears.short_window, comparison, is_used=is_short(config, picked))


def voices(config: Config) -> Line:
    """Let the local voice speak, into nothing; it is the one that needs no network."""
    del config
    try:
        spoken = subprocess.run(["espeak-ng", "--stdout", "a"], capture_output=True, timeout=10, check=False)
    except FileNotFoundError:
        return Line("voices", Verdict.FAULT, "espeak-ng is not installed", "apt install espeak-ng")
    if not spoken.stdout.startswith(b"RIFF"):
        words = spoken.stderr.decode(errors="replace").strip() or f"it ended with {spoken.returncode}"
        return Line("voices", Verdict.FAULT, f"espeak-ng makes no sound: {words}", "apt reinstall espeak-ng-data")
    if shutil.which("flite") is None:
        return Line("voices", Verdict.WARNING, "espeak-ng speaks; no flite for the demo", "apt install flite")
    return Line("voices", Verdict.OK, "espeak-ng speaks; flite for the demo")


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


def judge_speed(name: str, seconds: float, of: float) -> Line:
    """Judge how long a recognizer took for so many seconds of speech."""
    what = f"{name} takes {seconds:.2f} s for {of:.0f} s of speech ({seconds / of:.2f} of real time)"
    if seconds > of:
        return Line(
            "speed", Verdict.WARNING, what, 'set a smaller [ears] model, or "auto"; or end what else is running'
        )
    return Line("speed", Verdict.OK, what)


def judge_window(setting: str, found: Comparison | None, *, is_used: bool) -> Line:
    """Judge the short window: what [ears] short_window says, what a comparison found, and what follows of both."""
    from appliance.input.whisper.short_window import described

    used = "Whisper is given the short window" if is_used else "Whisper is given its whole window of 30 s"
    compare = "`nakari models list --measure` compares the two on voices of this box"
    if found is None:
        what = f"{used}; the short one was never compared with it"
        fix = compare if setting != "off" else ""
        return Line("window", Verdict.WARNING if is_used else Verdict.OK, what, fix)
    what = f"{used}; {described(found)}"
    if is_used and not found.is_for_short:
        return Line("window", Verdict.WARNING, what, 'set [ears] short_window = "auto"')
    return Line("window", Verdict.OK, what)


def _printed(name: str, module: str, *arguments: str) -> bytes:
    """Return what a module of ours prints, run for the check of this name. Raises `Broken`."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", module, *arguments],
            cwd=Path(__file__).resolve().parents[2],
            capture_output=True,
            timeout=CHILD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        part, _, fix = _CULPRITS[name]
        raise Broken(Line(name, Verdict.FAULT, f"{part} did not answer within {CHILD_SECONDS:g} s", fix)) from error
    if done.returncode != 0:
        words = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        end = f"ended with {done.returncode}" if done.returncode > 0 else signal.Signals(-done.returncode).name
        part, fix, _ = _CULPRITS[name]
        raise Broken(Line(name, Verdict.FAULT, f"{part} broke down ({words or end})", fix))
    return done.stdout


SOUND: tuple[Check, ...] = (sound, level, recognizer, speed, window, voices)
