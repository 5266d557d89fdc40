"""What the configuration may say of each voice that needs more than its name."""

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from appliance.config.meaning import setting


class SovitsSettings(Struct, frozen=True):
    """GPT-SoVITS, the engine "sovits": its api_v2.py, which speaks with the voice of a recording."""

    url: str = setting("http://127.0.0.1:9880", "Where its api_v2.py answers. What nakari says goes there.")
    reference: str = setting("", "Path of the recording whose voice is taken, 3 to 10 s, on the machine of the server.")
    reference_text: str = setting("", "The words of that recording.")
    reference_language: str = setting(
        "en", 'What is spoken in it, by the server\'s names: "en", "zh", "ja", "ko", "yue".'
    )
    streaming_mode: int = setting(
        1,
        "How soon it sends sound: 1 by parts of a sentence, 3 soonest and a little worse, 2 between; older servers "
        "know 0 and 1 only.",
        between=(0, 3),
    )


class OpenAiSpeechSettings(Struct, frozen=True):
    """The engine "openai": any server that speaks OpenAI's speech interface, at home or not."""

    url: str = setting(
        "https://api.openai.com/v1",
        'What /audio/speech is below, e.g. "http://127.0.0.1:8880/v1" for Kokoro-FastAPI. What nakari says goes there.',
    )
    api_key_env: str = setting(
        "",
        'Name of the environment variable or systemd credential with the key; "" is OPENAI_API_KEY at OpenAI, and '
        "none elsewhere.",
    )
    model: str = setting("gpt-4o-mini-tts", "The model's name there.")
    voice: str = setting("alloy", "The voice's name there.")
    voices: Mapping[str, str] = setting({}, 'Other voices by language, e.g. { zh = "zf_xiaoxiao" }.')
    format: Literal["pcm", "wav", "mp3"] = setting(
        "pcm",
        'What is asked for; "wav" where a server\'s bare PCM sounds too high or too low, which should have 24 kHz.',
    )


class WyomingSpeechSettings(Struct, frozen=True):
    """The engine "wyoming": a Wyoming server for text to speech, such as wyoming-piper."""

    url: str = setting(
        "tcp://127.0.0.1:10200", "Where it answers. What nakari says goes there, in clear: the protocol knows no key."
    )
    voices: Mapping[str, str] = setting(
        {},
        'Its voices by language, e.g. { en = "en_US-lessac-medium" }; other languages are left to the next engine. '
        "{} is the server's own choice, which may read one language by another's voice.",
    )


class PiperSettings(Struct, frozen=True):
    """The engine "piper": a neural voice as a program on this machine, which sends nothing anywhere."""

    command: tuple[str, ...] = setting(("piper",), "The program, and arguments that it is always given.")
    models: Mapping[str, str] = setting(
        {},
        'Its models by language, e.g. { en = "/opt/piper/en_US-lessac-medium.onnx" }, each with its .onnx.json '
        "beside it; each takes a program that stays loaded, 100 to 300 MB.",
    )


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
