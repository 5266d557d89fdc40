"""What the doctor looks at of the recognizer: which one listens, how fast it is, and its window."""

import json
from typing import Final

from appliance.config.load import Config
from appliance.doctor.child import Broken, Culprit, printed
from appliance.doctor.examine import Check, Line, Verdict
from appliance.input.whisper.choice import pick, whisper_settings
from appliance.input.whisper.recognizers import INSTALL, NOT_INSTALLED, choose_whisper
from appliance.input.whisper.short_window import described, is_short, recall
from appliance.input.whisper.speed import RecognizerSpeed, arguments
from audio.recognizer.faster_whisper import is_installed
from audio.recognizer.models.compare import Comparison
from audio.turns.silero import has_silero

_RECOGNIZER: Final = Culprit(
    "the recognizer",
    "fetch its model again, or set a smaller [ears] model",
    lambda process: "end what else is running, or set a smaller [ears] model",
)


def recognizer(config: Config) -> Line:
    """Find out which Whisper would listen, without loading its model."""
    if "whisper" not in config.ears.engines:
        return _unused("recognizer")
    if not has_silero():
        what = "the voice detector's model, of the extra local-whisper, is missing: nothing can be heard"
        return Line("recognizer", Verdict.FAULT, what, "run scripts/setup")
    hearing = choose_whisper(whisper_settings(config))
    name = hearing.recognizer.name
    if not is_installed():
        return Line("recognizer", Verdict.WARNING, f"{NOT_INSTALLED}; {name} understands set phrases only", INSTALL)
    if hearing.picked is None:
        coming = "wait until it is fetched" if config.ears.download else "set [ears] download, or model = a folder"
        return Line(
            "recognizer", Verdict.WARNING, f"no Whisper model here; {name} understands set phrases only", coming
        )
    return Line("recognizer", Verdict.OK, name)


def _unused(name: str) -> Line:
    return Line(name, Verdict.OK, "no Whisper on this machine is to hear, by [ears] engines")


def speed(config: Config) -> Line:
    """Let that recognizer hear one recorded sentence of 3 s, into nothing."""
    if "whisper" not in config.ears.engines:
        return _unused("speed")
    try:
        told = printed("speed", _RECOGNIZER, "appliance.input.whisper.speed", *arguments(whisper_settings(config)))
    except Broken as broken:
        return broken.line
    found = RecognizerSpeed(**json.loads(told))
    if found.missing:
        return Line("speed", Verdict.FAULT, found.missing)
    return judge_speed(found)


def window(config: Config) -> Line:
    """Tell what was found when both windows of the Whisper model were compared; that takes longer than a check may."""
    if "whisper" not in config.ears.engines:
        return _unused("window")
    settings = whisper_settings(config)
    picked = pick(settings)
    if picked is None:
        return Line("window", Verdict.OK, "no Whisper model, no window to choose")
    verdict = recall(settings, picked)
    comparison = verdict.comparison if verdict else None
    return judge_window(settings.ears.short_window, comparison, is_used=is_short(settings, picked))


def judge_speed(found: RecognizerSpeed) -> Line:
    """Judge what a recognizer needs of the processor; how busy the machine is at the moment is no fault of it."""
    needs = found.busy_seconds / found.threads
    shared = f" on {found.threads} threads" if found.threads > 1 else ""
    speech = f"{found.of:.0f} s of speech ({needs / found.of:.2f} of real time)"
    what = f"{found.name} needs {needs:.2f} s of the processor{shared} for {speech}"
    if needs > found.of:
        return Line("speed", Verdict.WARNING, what, 'set a smaller [ears] model, or "auto"')
    if found.seconds > found.of:
        what += f"; it had to wait for other programs and took {found.seconds:.1f} s: the machine is busy"
    return Line("speed", Verdict.OK, what)


def judge_window(setting: str, found: Comparison | None, *, is_used: bool) -> Line:
    """Judge the short window: what [ears] short_window says, what a comparison found, and what follows of both."""
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


CHECKS: tuple[Check, ...] = (recognizer, speed, window)
