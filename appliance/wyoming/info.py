"""What a program is told that the box can do. No satellite is among it: Home Assistant would leave out all the rest."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct
from wyoming.info import AsrModel, AsrProgram, Attribution, HandleModel, HandleProgram, Info, TtsProgram, TtsVoice

from appliance.version import version
from audio.recognizer.models.catalog import languages_of

NAME: Final = "nakari"

SPOKEN: Final = ("en", "zh")
"""Languages that the voices speak well, beside the house's own."""

_OURS: Final = Attribution(NAME, "")


class Abilities(Struct, frozen=True):
    """Tells them as they are now: a better recognizer may have come."""

    recognizer: Callable[[], str]
    """Returns the name of who recognizes. Blocking: it may be chosen by that."""
    language: str
    """ISO 639-1, or "auto"."""

    def info(self) -> Info:
        """Return what there is. Blocking."""
        name = self.recognizer()
        heard = languages_of(name, self.language)
        spoken = list(dict.fromkeys([*SPOKEN, *([] if self.language in ("", "auto") else [self.language])]))
        understood = list(dict.fromkeys([*heard, *spoken]))
        about = (NAME, _OURS, True)
        return Info(
            asr=[
                AsrProgram(
                    *about,
                    "Speech-to-text of nakari",
                    version(),
                    [AsrModel(name, _OURS, True, name, version(), list(heard))],
                    prefers_auto_gain_enabled=False,
                    prefers_noise_reduction_enabled=False,
                )
            ],
            tts=[
                TtsProgram(
                    *about,
                    "Voice of nakari",
                    version(),
                    [_voice(language) for language in spoken],
                    supports_synthesize_streaming=True,
                )
            ],
            handle=[
                HandleProgram(
                    *about,
                    "The agent of nakari",
                    version(),
                    [HandleModel(NAME, _OURS, True, "The agent of nakari", version(), understood)],
                    supports_handled_streaming=True,
                    supports_home_control=True,
                )
            ],
        )


def language_of(voice: str) -> str:
    """Return the language of a voice that a program names, "" for one that is none of these."""
    name, _, language = voice.partition("-")
    return language if name == NAME else ""


def _voice(language: str) -> TtsVoice:
    return TtsVoice(f"{NAME}-{language}", _OURS, True, NAME, version(), [language])
