"""What the configuration may say of recognizers beside Whisper: a model that streams, and servers elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from annotated_types import Ge, Le

from appliance.config.meaning import Meaning

RecognizerName: TypeAlias = Literal["whisper", "streaming", "openai", "wyoming"]


@dataclass(frozen=True, slots=True)
class StreamingRecognizerSettings:
    """A recognizer that follows what is said word by word, for `[ears] engines`: sherpa-onnx, on this machine."""

    model: Annotated[
        str,
        Meaning(
            "The folder of one of its streaming models as it was unpacked: tokens.txt with an encoder, decoder and "
            "joiner (*.onnx), or with one CTC model (zipformer2, NeMo, WeNet)."
        ),
    ] = ""
    language: Annotated[
        str, Meaning('What it writes in Latin letters, as ISO 639-1; "" is [ears] language. Chinese is told by itself.')
    ] = ""
    threads: Annotated[int, Ge(0), Le(256), Meaning("Threads that recognize; 0 is two.")] = 0


@dataclass(frozen=True, slots=True)
class OpenAiRecognizerSettings:
    """A server with OpenAI's transcription interface, for `[ears] engines`: OpenAI itself, or one of yours."""

    url: Annotated[
        str,
        Meaning(
            'Root of the API, with or without /v1, e.g. "http://speech.home:8000/v1" (speaches, vLLM, LocalAI, '
            "whisper.cpp)."
        ),
    ] = "https://api.openai.com/v1"
    model: Annotated[str, Meaning('The model\'s name there; "" sends none.')] = "whisper-1"
    api_key_env: Annotated[
        str,
        Meaning(
            'Name of the environment variable or systemd credential with the key; "" is OPENAI_API_KEY for OpenAI '
            "itself, and none for others."
        ),
    ] = ""
    send_names: Annotated[
        bool,
        Meaning("Whether the server is told which names to expect: [ears] hotwords, and those that the memory knows."),
    ] = True


@dataclass(frozen=True, slots=True)
class WyomingRecognizerSettings:
    """A Wyoming server that recognizes, for `[ears] engines`, such as wyoming-faster-whisper. It has no encryption."""

    url: Annotated[str, Meaning('Where it is, e.g. "tcp://speech.home:10300".')] = ""
    model: Annotated[str, Meaning('One of its models; "" is its own choice.')] = ""
    send_names: Annotated[
        bool,
        Meaning("Whether the server is told which names to expect: [ears] hotwords, and those that the memory knows."),
    ] = True


RecognizerNames: TypeAlias = Annotated[
    tuple[RecognizerName, ...],
    Meaning(
        'Who makes words of sound, the next where one fails or is late: "whisper" and "streaming" (which also '
        "follows what is said, wherever it stands: [streaming_recognizer]) on this machine; the sound goes to the "
        'server of "openai" (OpenAI\'s interface: [openai_recognizer]) and of "wyoming" ([wyoming_recognizer]).'
    ),
]

Patience: TypeAlias = Annotated[
    float,
    Ge(0.5),
    Le(60.0),
    Meaning(
        "With several [ears] engines, how long one may take, and half the length of what was said, before the next "
        "is asked.",
        "s",
    ),
]


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
