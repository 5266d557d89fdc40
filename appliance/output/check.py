"""What the doctor looks at of the voices: each really speaks, into nothing, and how long that takes to begin."""

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from appliance.config.load import Config
from appliance.doctor.examine import Check, Line, Verdict
from appliance.output.voices import STALLS_AFTER, speech_settings, voices_of
from audio.errors import SynthesisFailed, VoiceUnavailable
from audio.interfaces import Synthesizer, closing
from audio.loops import running
from audio.tts.chain import watched
from audio.tts.edge import EdgeSynthesizer

PATIENCE: Final = 8.0
"""Seconds that a voice may take to its first sound before it is given up; the first may have to load its model."""

SENTENCES: Final[Mapping[str, str]] = {"zh": "请稍等。"}
SENTENCE: Final = "One moment."

_SOVITS: Final = "look at the server's own log; [sovits] reference has to be a file there, of 3 to 10 s"
_OPENAI: Final = "correct url, model and voice in [openai_speech]"
_WYOMING: Final = "look at the server's own log, or name its voices in [wyoming_speech] voices"
_PIPER: Final = "see that [piper] models are .onnx files with their .onnx.json, and try the command by hand"
FIXES: Final[Mapping[str, tuple[str, str]]] = {
    "GPT-SoVITS": ("start its api_v2.py, or correct [sovits] url", _SOVITS),
    "OpenAI speech": ("start the server, or correct [openai_speech] url", _OPENAI),
    "Wyoming voice": ("start the server, or correct [wyoming_speech] url", _WYOMING),
    "piper": (_PIPER, _PIPER),
}
"""By a voice's name: what to do when it cannot be reached, and when it does not speak."""

_KEY: Final = "set the key in the variable or credential that [openai_speech] api_key_env names"
_LATE: Final = "raise [voice] first_sound_deadline, or put it behind a quicker one in [voice] engines"


class Asked(Struct, frozen=True):
    """How one voice answered."""

    name: str
    seconds: float = 0.0
    """To its first sound."""
    failure: str = ""
    fix: str = ""


def voices(config: Config) -> Line:
    """Let each voice speak, into nothing; Microsoft's own, which is the default, is not asked for that."""
    settings = speech_settings(config)
    every = voices_of(settings, PATIENCE)
    asked = [voice for voice in every if not isinstance(voice, EdgeSynthesizer) or voice.is_elsewhere]
    language = config.ears.language if config.ears.language not in ("", "auto") else "en"
    return judge_voices(asyncio.run(_all_asked(asked, language)), settings.voice.first_sound_deadline)


def judge_voices(asked: Sequence[Asked], deadline: float) -> Line:
    """Judge how the voices answered; `deadline` is how many seconds the service gives them."""
    told = [each.failure or f"{each.name} speaks after {each.seconds:.1f} s" for each in asked]
    what = "; ".join(told) or "no voice without a network"
    if fixes := [each.fix for each in asked if each.failure]:
        return Line("voices", Verdict.FAULT, what, "; ".join(dict.fromkeys(fixes)))
    if late := [each.name for each in asked if each.seconds > deadline]:
        what = f"{what}; {' and '.join(late)} too late for [voice] first_sound_deadline ({deadline:g} s)"
        return Line("voices", Verdict.WARNING, what, _LATE)
    if shutil.which("flite") is None:
        return Line("voices", Verdict.WARNING, f"{what}; no flite for the demo", "apt install flite")
    return Line("voices", Verdict.OK, f"{what}; flite for the demo")


async def _all_asked(voices: Sequence[Synthesizer], language: str) -> list[Asked]:
    """Ask all at once, but programs of this machine one after the other, which would take time from each other."""
    async with asyncio.TaskGroup() as group:
        away = {voice.name: group.create_task(_asked(voice, language)) for voice in voices if voice.sends_to}
        here = {voice.name: await _asked(voice, language) for voice in voices if not voice.sends_to}
    return [here[voice.name] if voice.name in here else away[voice.name].result() for voice in voices]


async def _asked(voice: Synthesizer, language: str) -> Asked:
    """Let a voice speak a sentence, and a second one whose first sound is timed: the first may load what it needs."""
    async with running(voice.loops()):
        try:
            await _first_sound(voice, language)
            return Asked(voice.name, await _first_sound(voice, language))
        except SynthesisFailed as error:
            return _failed(voice.name, error)


async def _first_sound(voice: Synthesizer, language: str) -> float:
    """Return the seconds to the first sound of a sentence, which is spoken whole. Raises `SynthesisFailed`."""
    clock, first = asyncio.get_running_loop().time, 0.0
    began = clock()
    text = SENTENCES.get(language, SENTENCE)
    async with closing(watched(voice, text, language, PATIENCE, STALLS_AFTER)) as pieces:
        async for _ in pieces:
            first = first or clock() - began
    return first


def _failed(name: str, error: BaseException) -> Asked:
    told, is_there = str(error), not isinstance(error, VoiceUnavailable)
    if name in FIXES:
        fix = _KEY if "HTTP 401" in told or "HTTP 403" in told else FIXES[name][is_there]
        return Asked(name, failure=told, fix=fix)
    what, _, fix = told.partition(": ")
    if is_there or not fix:
        return Asked(name, failure=told, fix=f"reinstall {name} and its data")
    return Asked(name, failure=what, fix=fix)


CHECKS: tuple[Check, ...] = (voices,)
