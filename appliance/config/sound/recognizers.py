"""What the configuration may say of recognizers beside Whisper: a model that streams, and servers elsewhere."""

from collections.abc import Sequence
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
