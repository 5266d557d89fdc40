"""What is said and written when a reflex has acted, in English and Chinese."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from msgspec import Struct

from agent.intents.language.questions import is_question
from agent.intents.saying.spoken import spoken_length
from audio.language import sentence_language

_PHRASES: Final = {
    "muted": (
        "I am muted and hear nothing{length} until you {word}type unmute or run nakari unmute.",
        "我已静音，{length}什么都听不见；{word}输入 unmute 或运行 nakari unmute 可以恢复。",
    ),
    "muted there": (
        "This microphone is off until you switch it on at the device.",
        "这里的麦克风已关闭，可以在设备上重新打开。",
    ),
    "mute asked back": ("Say it once more and I close my ears.", "再说一遍，我就关上耳朵。"),
    "forget asked back": ("Say it once more and it is gone.", "再说一遍，我就当没听到。"),
    "unmuted": ("I can hear again.", "我又能听见了。"),
    "stopped": ("Stopped.", "停了。"),
    "silenced": ("The timer is silent.", "计时器不响了。"),
    "snoozed": ("I will ring again in {minutes} minutes.", "{minutes}分钟后再响。"),
    "paused": ("Paused.", "暂停了。"),
    "resumed": ("Going on.", "继续了。"),
    "volume": ("The volume is {percent} percent.", "音量为{percent}%。"),
    "forgotten": ("Forgotten.", "已经忘掉了。"),
    "forgetting": ("I am forgetting it: {words}.", "我这就忘掉：{words}。"),
    "forgotten these": ("Forgotten: {words}.", "已经忘掉了：{words}。"),
    "nothing to forget": ("There is nothing to forget.", "没有什么可以忘掉的。"),
    "not forgotten": ("I could not forget all of it.", "没能全部忘掉。"),
    "repeated": ("I am saying it again.", "我再说一遍。"),
}

SHOWN_WORDS: Final = 6
"""Of each thing that goes, so that a person recognises it; Chinese has no spaces and is cut by letters."""

SHOWN_LETTERS: Final = 40

SHOWN_THINGS: Final = 3
"""That are named, of all that go."""


class Forgot(Struct, frozen=True):
    """How an order to forget went."""

    did: str
    """The name of the sentence that tells of it (`appliance.reflexes.words`)."""
    words: str = ""
    """The beginning of each thing that is gone, for the one answer that names them; kept and logged nowhere."""
    drop: Callable[[], Awaitable[None]] | None = None
    """Drops what saying the answer aloud has kept of those words, to be called once it was said."""


def beginnings(texts: Sequence[str]) -> str:
    """Return the beginnings of a few texts in quotes, the oldest first: of the newest that tell something, not ask."""
    told_last = sorted(range(len(texts)), key=lambda place: (not is_question(texts[place]), place))
    shown = "; ".join(f"“{beginning(texts[place])}”" for place in sorted(told_last[-SHOWN_THINGS:]))
    return f"… {shown}" if len(texts) > SHOWN_THINGS else shown


def beginning(text: str) -> str:
    """Return the first few words of a text, in a line."""
    words = text.split()
    start = " ".join(words[:SHOWN_WORDS])
    most = SHOWN_LETTERS if start.isascii() else SHOWN_LETTERS // 2
    is_cut = len(words) > SHOWN_WORDS or len(start) > most
    return f"{start[:most].rstrip()} …" if is_cut else start


def sentence(name: str, language: str, like: str = "", **values: object) -> str:
    """Return one of the sentences, in the language of `like`, or of the house (ISO 639-1) where that does not tell."""
    english, chinese = _PHRASES[name]
    return (chinese if sentence_language(like, language) == "zh" else english).format(**values)


def muted(minutes: float, wake_word: str, language: str, like: str = "") -> str:
    """Return the sentence that says it is muted, and by what that ends here: 0 minutes and "" are no ways."""
    spoken = sentence_language(like, language)
    length = spoken_length(round(60 * minutes), "zh" if spoken == "zh" else "en")
    if spoken == "zh":
        told = {"length": f"{length}内" if length else "", "word": f"说“{wake_word}”、" if wake_word else ""}
    else:
        told = {"length": f" for {length}, or" if length else "", "word": f"say {wake_word}, " if wake_word else ""}
    return sentence("muted", language, like, **told)


def forgotten(forgot: Forgot, language: str, like: str = "") -> str:
    """Return the sentence that tells how forgetting went, with the beginnings of what is gone where there are any.

    `like` is the order, whose language it is told in where nothing else tells.
    """
    if not forgot.words:
        return sentence(forgot.did, language, like)
    return sentence("forgotten these", language, like or forgot.words, words=forgot.words)
