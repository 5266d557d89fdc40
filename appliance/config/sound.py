"""What the configuration may say of recognizers beside Whisper, and of each voice that needs more than its name."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from appliance.config.meaning import setting

RecognizerName: TypeAlias = Literal["whisper", "streaming", "openai", "wyoming"]


class StreamingRecognizerSettings(Struct, frozen=True):
    """A recognizer that follows what is said word by word, for `[ears] engines`: sherpa-onnx, on this machine."""

    model: str = setting(
        "",
        "The folder of one of its streaming models as it was unpacked: tokens.txt with an encoder, decoder and "
        "joiner (*.onnx), or with one CTC model (zipformer2, NeMo, WeNet).",
    )
    language: str = setting(
        "", 'What it writes in Latin letters, as ISO 639-1; "" is [ears] language. Chinese is told by itself.'
    )
    threads: int = setting(0, "Threads that recognize; 0 is two.", between=(0, 256))


class OpenAiRecognizerSettings(Struct, frozen=True):
    """A server with OpenAI's transcription interface, for `[ears] engines`: OpenAI itself, or one of yours."""

    url: str = setting(
        "https://api.openai.com/v1",
        'Root of the API, with or without /v1, e.g. "http://speech.home:8000/v1" (speaches, vLLM, LocalAI, '
        "whisper.cpp).",
    )
    model: str = setting("whisper-1", 'The model\'s name there; "" sends none.')
    api_key_env: str = setting(
        "",
        'Name of the environment variable or systemd credential with the key; "" is OPENAI_API_KEY for OpenAI '
        "itself, and none for others.",
    )
    send_names: bool = setting(
        True, "Whether the server is told which names to expect: [ears] hotwords, and those that the memory knows."
    )


class WyomingRecognizerSettings(Struct, frozen=True):
    """A Wyoming server that recognizes, for `[ears] engines`, such as wyoming-faster-whisper. It has no encryption."""

    url: str = setting("", 'Where it is, e.g. "tcp://speech.home:10300".')
    model: str = setting("", 'One of its models; "" is its own choice.')
    send_names: bool = setting(
        True, "Whether the server is told which names to expect: [ears] hotwords, and those that the memory knows."
    )


def wrong_engines(
    engines: Sequence[str], wyoming: WyomingRecognizerSettings, streaming: StreamingRecognizerSettings
) -> str:
    """Return what is wrong with `[ears] engines`, as the rest of the sentence; "" when nothing is."""
    if not engines:
        return 'names none; write ["whisper"] for the one of this machine'
    if len(set(engines)) < len(engines):
        return "names one twice"
    if "streaming" in engines and not streaming.model:
        return 'names "streaming", but [streaming_recognizer] has no model'
    if "wyoming" in engines and not wyoming.url:
        return 'names "wyoming", but [wyoming_recognizer] has no url'
    return ""


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
