"""What the doctor looks at of the voices: each that needs no network speaks, into nothing."""

import asyncio
import shutil
from collections.abc import Sequence

from appliance.config.load import Config
from appliance.doctor.examine import Check, Line, Verdict
from appliance.egress import is_here
from appliance.output.voices import voices_of
from audio.errors import SynthesisFailed, VoiceUnavailable
from audio.interfaces import Synthesizer


def voices(config: Config) -> Line:
    """Let each voice of this machine speak, into nothing; one over the network is not asked."""
    local = [voice for voice in voices_of(config.voice) if all(is_here(sent.to) for sent in voice.sends_to)]
    if failures := asyncio.run(_failures(local)):
        what, fixes = zip(*failures, strict=True)
        return Line("voices", Verdict.FAULT, "; ".join(what), "; ".join(fixes))
    told = f"{' and '.join(voice.name for voice in local)} speaks" if local else "no voice without a network"
    if shutil.which("flite") is None:
        return Line("voices", Verdict.WARNING, f"{told}; no flite for the demo", "apt install flite")
    return Line("voices", Verdict.OK, f"{told}; flite for the demo")


async def _failures(voices: Sequence[Synthesizer]) -> list[tuple[str, str]]:
    """Return why voices cannot speak, each with the fix."""
    found = []
    for voice in voices:
        try:
            async for _ in voice.speak("a", "en"):
                pass
        except VoiceUnavailable as error:
            what, _, fix = str(error).partition(": ")
            found.append((what, fix))
        except SynthesisFailed as error:
            found.append((str(error), f"reinstall {voice.name} and its data"))
    return found


CHECKS: tuple[Check, ...] = (voices,)
