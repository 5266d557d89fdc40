"""What the configuration may say of each voice that needs more than its name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Ge, Le

from appliance.config.meaning import Meaning


@dataclass(frozen=True, slots=True)
class SovitsSettings:
    """GPT-SoVITS, the engine "sovits": its api_v2.py, which speaks with the voice of a recording."""

    url: Annotated[str, Meaning("Where its api_v2.py answers. What nakari says goes there.")] = "http://127.0.0.1:9880"
    reference: Annotated[
        str, Meaning("Path of the recording whose voice is taken, 3 to 10 s, on the machine of the server.")
    ] = ""
    reference_text: Annotated[str, Meaning("The words of that recording.")] = ""
    reference_language: Annotated[
        str, Meaning('What is spoken in it, by the server\'s names: "en", "zh", "ja", "ko", "yue".')
    ] = "en"
    streaming_mode: Annotated[
        int,
        Ge(0),
        Le(3),
        Meaning(
            "How soon it sends sound: 1 by parts of a sentence, 3 soonest and a little worse, 2 between; older servers "
            "know 0 and 1 only."
        ),
    ] = 1


@dataclass(frozen=True, slots=True)
class OpenAiSpeechSettings:
    """The engine "openai": any server that speaks OpenAI's speech interface, at home or not."""

    url: Annotated[
        str,
        Meaning(
            'What /audio/speech is below, e.g. "http://127.0.0.1:8880/v1" for Kokoro-FastAPI. What nakari says goes '
            "there."
        ),
    ] = "https://api.openai.com/v1"
    api_key_env: Annotated[
        str,
        Meaning(
            'Name of the environment variable or systemd credential with the key; "" is OPENAI_API_KEY at OpenAI, '
            "and none elsewhere."
        ),
    ] = ""
    model: Annotated[str, Meaning("The model's name there.")] = "gpt-4o-mini-tts"
    voice: Annotated[str, Meaning("The voice's name there.")] = "alloy"
    voices: Annotated[Mapping[str, str], Meaning('Other voices by language, e.g. { zh = "zf_xiaoxiao" }.')] = field(
        default_factory=dict
    )
    format: Annotated[
        Literal["pcm", "wav", "mp3"],
        Meaning(
            'What is asked for; "wav" where a server\'s bare PCM sounds too high or too low, which should have 24 kHz.'
        ),
    ] = "pcm"


@dataclass(frozen=True, slots=True)
class WyomingSpeechSettings:
    """The engine "wyoming": a Wyoming server for text to speech, such as wyoming-piper."""

    url: Annotated[
        str, Meaning("Where it answers. What nakari says goes there, in clear: the protocol knows no key.")
    ] = "tcp://127.0.0.1:10200"
    voices: Annotated[
        Mapping[str, str],
        Meaning(
            'Its voices by language, e.g. { en = "en_US-lessac-medium" }; other languages are left to the next engine. '
            "{} is the server's own choice, which may read one language by another's voice."
        ),
    ] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PiperSettings:
    """The engine "piper": a neural voice as a program on this machine, which sends nothing anywhere."""

    command: Annotated[tuple[str, ...], Meaning("The program, and arguments that it is always given.")] = ("piper",)
    models: Annotated[
        Mapping[str, str],
        Meaning(
            'Its models by language, e.g. { en = "/opt/piper/en_US-lessac-medium.onnx" }, each with its .onnx.json '
            "beside it; each takes a program that stays loaded, 100 to 300 MB."
        ),
    ] = field(default_factory=dict)


def wrong_voices(engines: Sequence[str], sovits: SovitsSettings, piper: PiperSettings) -> tuple[str, str]:
    """Return the key of [voice] that is wrong beside other sections, and what is wrong with it; else two ""."""
    wrong = ""
    if not engines or len(set(engines)) < len(engines):
        wrong = 'should name voices, each once, such as ["edge", "espeak"]'
    elif "sovits" in engines and not sovits.reference:
        wrong = 'names "sovits", which needs [sovits] reference: whose voice it speaks with'
    elif "piper" in engines and not (piper.models and piper.command):
        wrong = (
            f'names "piper", which needs [piper] {"command" if piper.models else "models: a voice for each language"}'
        )
    return ("engines", wrong) if wrong else ("", "")
