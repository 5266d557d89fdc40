"""The few sentences the runtime says itself, when no model is there to find words."""

from typing import Final

from memory.errors import DiskFull, MemoryFailure

_PHRASES: Final = {
    "no_model": {
        "en": "I heard you, but I cannot reach the model I think with right now.",
        "zh": "我听到了，但是现在连不上我思考用的模型。",
    },
    "out_of_budget": {
        "en": "I have used up the steps I may take for this. I kept a note of how far I got.",
        "zh": "这件事我能用的步骤已经用完了，进度我记下来了。",
    },
    "failed": {
        "en": "Something went wrong inside me while I was working on that. It is in my log.",
        "zh": "处理这件事的时候，我内部出了问题，日志里有记录。",
    },
    "moment": {
        "en": "One moment.",
        "zh": "请稍等。",
    },
    "timed_out": {
        "en": "This takes me too long. I have stopped working on it.",
        "zh": "这件事花的时间太长了，我先停下来了。",
    },
    "gave_up": {
        "en": "I have tried this as often as I may, and I am giving it up.",
        "zh": "这件事我试了好几次都没有做完，只好放弃了。",
    },
    "disk_full": {
        "en": "I heard you, but I cannot write it down: my disk is full. I will answer when there is room.",
        "zh": "我听到了，但是磁盘满了，我记不下来。等有了空间我再回答。",
    },
    "disk_unusable": {
        "en": "I heard you, but I cannot write it down: something is wrong with my disk. I will answer when it works.",
        "zh": "我听到了，但是磁盘出了问题，我记不下来。等磁盘好了我再回答。",
    },
    "disk_still": {
        "en": "I heard that too. It waits for my disk as well.",
        "zh": "这句我也听到了，也要等磁盘。",
    },
    "disk_too_long": {
        "en": "I cannot keep any more in my head. Please say that again when my disk works.",
        "zh": "我脑子里记不下更多了，等磁盘好了请再说一遍。",
    },
}


def phrase(name: str, words: str) -> str:
    """Return the sentence of that name in the language the words are in (Chinese or English). Raises KeyError."""
    language = "zh" if any("\u4e00" <= character <= "\u9fff" for character in words) else "en"
    return _PHRASES[name][language]


def of_outage(failure: MemoryFailure) -> str:
    """Return the name of the sentence for words that could not be written down because of this."""
    return "disk_full" if isinstance(failure, DiskFull) else "disk_unusable"
