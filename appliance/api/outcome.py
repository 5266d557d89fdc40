"""How an asked question ended, where it did not end in its answer."""

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from msgspec import Struct

from appliance.errors import Exit
from audio.language import sentence_language

if TYPE_CHECKING:
    from agent.mailbox import MailboxRecord

Status: TypeAlias = Literal["suspended", "waiting", "given_up", "withdrawn"]

_EXITS: Final[dict[Status, Exit]] = {
    "suspended": Exit.LATER,
    "waiting": Exit.UNAVAILABLE,
    "given_up": Exit.FAULT,
    "withdrawn": Exit.FAULT,
}

_SENTENCES: Final[dict[Status, str]] = {
    "suspended": "It is put aside and goes on later (event {id}); `nakari mailbox --withdraw {id}` drops it.",
    "waiting": "It waits until a model answers it: {reason} (event {id}; `nakari mailbox --withdraw {id}` drops it).",
    "given_up": "It was given up: {reason}; `nakari mailbox --retry {id}` tries it again.",
    "withdrawn": "It was withdrawn before it was answered: {reason}.",
}

_FOR_PROGRAMS: Final = {
    "en": {
        "waiting": "No model can be reached at the moment. The question is kept, and answered when one is back.",
        "suspended": "That is put aside and goes on later.",
        "given_up": "That was given up. The log says why.",
        "withdrawn": "The question was withdrawn before it was answered.",
        "late": "That takes longer. It goes on, and the answer will be in the history.",
        "nothing": "There is no answer to that.",
    },
    "zh": {
        "waiting": "现在连不上模型。问题已经记下，连上以后再回答。",
        "suspended": "这件事先放一放，稍后继续。",
        "given_up": "这件事没能做成，原因在日志里。",
        "withdrawn": "问题在回答之前被撤回了。",
        "late": "这需要更长时间。会继续做，答案会留在历史记录里。",
        "nothing": "对此没有回答。",
    },
}
"""What a program passes on to a person where no words came."""

_FOR_PROGRAMS_WHY: Final = {
    "en": {
        "waiting": "No model answers that at the moment: {why}. The question is kept, and answered when one does.",
        "given_up": "That was given up: {why}.",
    },
    "zh": {
        "waiting": "现在没有模型能回答：{why}。问题已经记下，能回答的时候再回答。",
        "given_up": "这件事没能做成：{why}。",
    },
}
"""The same where it is known why."""

MOST_WHY: Final = 200
"""Characters of a reason that a program passes on; it may be read aloud."""


class Outcome(Struct, frozen=True):
    """The last thing that comes of a question, unless it was completed."""

    status: Status
    """suspended: until a time, a person or quiet; waiting: until a model is back."""
    event_id: str = ""
    reason: str = ""
    """Why it was given up or withdrawn, or why no model answered it yet."""

    @property
    def exit(self) -> Exit:
        """The exit code of a command that asked."""
        return _EXITS[self.status]

    def __str__(self) -> str:
        return _SENTENCES[self.status].format(id=self.event_id, reason=self.reason or "the log says why")


def outcome_of(filed: "MailboxRecord | None") -> Outcome | None:
    """Return how the event stands after its run; None when it is completed, or gone with its owner."""
    from agent.event import MODEL_AVAILABLE  # only a service asks here; every command loads this module

    if filed is None or filed.state in {"completed", "in_hand"}:
        return None
    if filed.state in {"suspended", "pending"}:
        status: Status = "waiting" if filed.waits_for == MODEL_AVAILABLE else "suspended"
    else:
        status = "given_up" if filed.state == "dead" else "withdrawn"
    return Outcome(status, filed.event.id, filed.reason)


def outcome_from(status: object, event_id: object, reason: object) -> Outcome | None:
    """Return the outcome that a service told; None for `completed`, and for what this version does not know."""
    for known in _EXITS:
        if status == known:
            return Outcome(known, str(event_id), str(reason))
    return None


def in_words(outcome: Outcome | Literal["late", "nothing"], question: str) -> str:
    """Return what a person is told by a program where no words came, in the language of the question: en or zh.

    "late" is for what takes longer than the program waits, "nothing" for what ended without a word. Of a reason what is
    wrong is told; how it is mended, `nakari doctor` tells whoever looks after the box.
    """
    language = "zh" if sentence_language(question, "en") == "zh" else "en"
    if not isinstance(outcome, Outcome):
        return _FOR_PROGRAMS[language][outcome]
    why = outcome.reason.partition(": ")[0].rstrip(".")[:MOST_WHY]
    known = _FOR_PROGRAMS_WHY[language].get(outcome.status) if why else None
    return known.format(why=why) if known else _FOR_PROGRAMS[language][outcome.status]
