"""What is said and written when a reflex has acted, in English and Chinese."""

from typing import Final

from audio.language import sentence_language

_PHRASES: Final = {
    "muted": (
        "I am muted and hear nothing until you type unmute or run nakari unmute.",
        "我已静音，什么都听不见；请输入 unmute 或运行 nakari unmute 来恢复。",
    ),
    "unmuted": ("I can hear again.", "我又能听见了。"),
    "still muted": ("I am still muted from before.", "我仍处于静音状态。"),
    "stopped": ("Stopped.", "停了。"),
    "silenced": ("The timer is silent.", "计时器不响了。"),
    "snoozed": ("I will ring again in {minutes} minutes.", "{minutes}分钟后再响。"),
    "paused": ("Paused.", "暂停了。"),
    "resumed": ("Going on.", "继续了。"),
    "volume": ("The volume is {percent} percent.", "音量为{percent}%。"),
    "forgotten": ("Forgotten.", "已经忘掉了。"),
    "nothing to forget": ("There is nothing to forget.", "没有什么可以忘掉的。"),
    "not forgotten": ("I could not forget all of it.", "没能全部忘掉。"),
    "repeated": ("I am saying it again.", "我再说一遍。"),
}


def sentence(name: str, language: str, like: str = "", **values: object) -> str:
    """Return one of the sentences, in the language of `like`, or of the house (ISO 639-1) where that does not tell."""
    english, chinese = _PHRASES[name]
    return (chinese if sentence_language(like, language) == "zh" else english).format(**values)
