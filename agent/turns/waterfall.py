"""Where the time of a turn went: its steps, what is usual for each, and in a sentence why it was slow."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from agent.turns.stages import TURN_ENDED, Stage
from memory.json_value import Json, fields, objects

if TYPE_CHECKING:
    from memory.state.journal import Journal

LAST: Final = 100
"""Turns of which the usual is taken where nobody says otherwise."""

_SUPERSEDED: Final = "SUPERSEDED"

LEAST_EXCESS: Final = 0.2
"""Seconds over the usual below which nobody notices."""

FEW: Final = 5
"""Turns of a kind below which nothing is usual yet: then the longest step is named."""

Language = Literal["en", "zh"]

CallKind = Literal["tools", "models"]

_WAITED_FOR: Final[Mapping[CallKind, tuple[str, str, str]]] = {
    "tools": ("tool", "began", "ended"),
    "models": ("model", "asked", "first_token"),
}
"""Where a call of a kind has its name, and the beginning and the end of the wait for it."""

_STEPS: Final[Mapping[str, tuple[str, str]]] = {
    "endpointing": ("waiting to hear whether you had finished", "等着确认你说完了没有"),
    "recognition": ("recognizing the words", "识别语音"),
    "filing": ("writing it down", "把它记下来"),
    "queue": ("it waited behind other work", "排在别的事情后面等待"),
    "context": ("building the context", "整理上下文"),
    "asking": ("what comes before the model is asked", "询问模型之前的准备"),
    "model": ("the model {model} before its first word", "模型{model}开口之前的思考"),
    "tools": ("the tool {tool}", "工具{tool}"),
    "writing": ("the model writing its first sentence", "模型写出第一句话"),
    "synthesis": ("making the voice", "合成语音"),
    "playback": ("the loudspeaker", "扬声器"),
}

STEPS: Final = tuple(_STEPS)
"""What follows each other from the end of speech, or from the arrival of a text, to the first of the answer."""

_SENTENCES: Final[Mapping[str, tuple[str, str]]] = {
    "none": ("There is no answer yet whose time I know.", "我还没有可以说明用时的回答。"),
    "unanswered": ("That one never came to an answer.", "那一次没有得到回答。"),
    "timeless": (
        "It came from a recording that was taken faster than it was spoken, so its times say nothing.",
        "那一次来自加快播放的录音，它的用时说明不了什么。",
    ),
    "usual": (
        "It was not slower than usual: {answer} until the answer began, usually {usual}.",
        "并不比平时慢：{answer}后开始回答，平时是{usual}。",
    ),
    "slow": (
        "It took {answer} until the answer began, usually {usual}. What took longer was {step}: {seconds}, "
        "usually {usually}.",
        "用了{answer}才开始回答，平时是{usual}。慢在{step}：{seconds}，平时是{usually}。",
    ),
    "longest": (
        "It took {answer} until the answer began. The longest part was {step}: {seconds}.",
        "用了{answer}才开始回答。最长的一步是{step}：{seconds}。",
    ),
}


class Turn(Struct, frozen=True):
    """One turn that ended, as the journal has it."""

    seq: int
    event_id: str
    run_id: str
    body: Mapping[str, Json]
    """As `Stages.body` made it."""

    @property
    def is_spoken(self) -> bool:
        """Whether it began with speech; else with a line of text."""
        return self.body.get("kind") == "spoken"

    @property
    def stages(self) -> Mapping[str, float]:
        """Stage -> seconds since its beginning."""
        return {name: at for name, at in fields(self.body.get("stages")).items() if isinstance(at, int | float)}

    @property
    def answered_at(self) -> float | None:
        """Seconds from its beginning until the first of the answer was heard or read; None for no answer."""
        return _first(self.stages, "first_sound", "first_text")

    @property
    def counts(self) -> bool:
        """Whether it tells what is usual: it was answered, from its beginning on."""
        is_timed = self.answered_at is not None and self.answered_at >= 0.0
        return is_timed and "filed" in self.stages and self.body.get("status") != _SUPERSEDED

    @property
    def steps(self) -> dict[str, float]:
        """Seconds of each of `STEPS` that it had; together they are `answered_at`.

        The tools and the models count for what they took before the first words were there; what is left of that time
        is the writing.
        """
        return dict(_steps(self))

    def slowest_call(self, kind: CallKind) -> str:
        """Return the name of the tool or model that was waited for longest before the first words, "" for none."""
        return max(self.calls_before_words(kind), key=lambda each: each[2] - each[1], default=("", 0.0, 0.0))[0]

    def calls_before_words(self, kind: CallKind) -> list[tuple[str, float, float]]:
        """Return name, beginning and end of the calls of a kind, as far as they were before the first words."""
        words_at = _first(self.stages, "first_sentence", "first_text", "done")
        name, began, ended = _WAITED_FOR[kind]
        found = []
        for call in objects(self.body.get(kind)):
            start, end = call.get(began), call.get(ended)
            if isinstance(start, int | float) and words_at is not None and start < words_at:
                until = min(end, words_at) if isinstance(end, int | float) else words_at
                found.append((str(call.get(name)), float(start), float(until)))
        return found


def _steps(turn: Turn) -> Iterator[tuple[str, float]]:
    stages, before = turn.stages, 0.0
    bounds: tuple[tuple[str, Stage], ...] = (
        ("endpointing", "committed"),
        ("recognition", "text"),
        ("filing", "filed"),
        ("queue", "taken"),
        ("context", "context"),
        ("asking", "asked"),
    )
    for step, stage in bounds:
        if stage in stages:
            yield step, max(0.0, stages[stage] - before)
            before = max(before, stages[stage])
    words_at = _first(stages, "first_sentence", "first_text")
    if words_at is None:
        return
    tools = _covered([(start, end) for _, start, end in turn.calls_before_words("tools")])
    model = _covered([(start, end) for _, start, end in turn.calls_before_words("models")])
    whole = max(0.0, words_at - before)
    yield "model", min(model, whole)
    yield "tools", min(tools, max(0.0, whole - model))
    yield "writing", max(0.0, whole - model - tools)
    if "first_sound" in stages:
        made_at = min(max(stages.get("synthesized", words_at), words_at), stages["first_sound"])
        yield "synthesis", made_at - words_at
        yield "playback", stages["first_sound"] - made_at


def _covered(spans: Iterable[tuple[float, float]]) -> float:
    """Return the seconds that lie in any of the spans."""
    covered, until = 0.0, float("-inf")
    for start, end in sorted(spans):
        covered += max(0.0, end - max(start, until))
        until = max(until, end)
    return covered


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest of the values that at least this share of them (0 to 1) does not exceed (nearest rank)."""
    return sorted(values)[max(0, ceil(share * len(values)) - 1)]


def usual(turns: Iterable[Turn]) -> dict[str, dict[str, float]]:
    """Return p50 and p95 (s) of the answer and of each step, over the turns that count; those all of one kind."""
    taken: dict[str, list[float]] = {}
    for turn in turns:
        if turn.counts and turn.answered_at is not None:
            taken.setdefault("answer", []).append(turn.answered_at)
            for step, seconds in turn.steps.items():
                taken.setdefault(step, []).append(seconds)
    return {
        name: {"p50": round(percentile(values, 0.5), 4), "p95": round(percentile(values, 0.95), 4)}
        for name, values in taken.items()
    }


async def turns_of(journal: "Journal", owner_key: str, last: int = LAST) -> list[Turn]:
    """Return an owner's newest turns, the oldest first; those that were erased are left out."""
    limit = last
    while True:
        found = await journal.entries(topic=TURN_ENDED, owner_key=owner_key, newest=True, limit=limit)
        whole = [entry for entry in found if entry.is_whole]
        if len(whole) >= last or len(found) < limit:
            return [Turn(entry.seq, entry.event_id, entry.run_id, entry.body) for entry in whole[-last:]]
        limit *= 2


def _first(stages: Mapping[str, float], *names: Stage) -> float | None:
    return next((stages[name] for name in names if name in stages), None)


def slowest(turn: Turn, before: Sequence[Turn]) -> str:
    """Return the step that took most over the usual, "" where none took noticeably more.

    The usual is that of the turns of the same kind in `before`; where those are few, the longest step is meant.
    """
    steps, typical = turn.steps, _typical(turn, before)
    if not typical:
        return max(steps, key=lambda step: steps[step], default="")
    excess = {step: seconds - typical.get(step, {}).get("p50", 0.0) for step, seconds in steps.items()}
    worst = max(excess, key=lambda step: excess[step], default="")
    return worst if worst and excess[worst] >= LEAST_EXCESS else ""


def why_slow(turn: Turn | None, before: Sequence[Turn], language: Language = "en") -> str:
    """Return the sentence that says why a turn took as long as it did, beside those `before` (`turns_of`)."""
    place = 0 if language == "en" else 1

    def told(name: str, **values: str) -> str:
        return _SENTENCES[name][place].format(**values)

    if turn is None:
        return told("none")
    answer = turn.answered_at
    if answer is None:
        return told("unanswered")
    if answer < 0.0:
        return told("timeless")
    typical, step = _typical(turn, before), slowest(turn, before)
    whole = {"answer": _seconds(answer, language)}
    if typical:
        whole["usual"] = _seconds(typical["answer"]["p50"], language)
    if not step:
        return told("usual", **whole)
    what = _STEPS[step][place].format(model=turn.slowest_call("models"), tool=turn.slowest_call("tools"))
    seconds = _seconds(turn.steps[step], language)
    if not typical:
        return told("longest", **whole, step=what, seconds=seconds)
    usually = _seconds(typical.get(step, {}).get("p50", 0.0), language)
    return told("slow", **whole, step=what, seconds=seconds, usually=usually)


def _typical(turn: Turn, before: Sequence[Turn]) -> dict[str, dict[str, float]]:
    """Return what is `usual` for turns of the same kind, {} where those are few."""
    peers = [each for each in before if each.is_spoken == turn.is_spoken and each.counts and each.seq != turn.seq]
    return usual(peers) if len(peers) >= FEW else {}


def _seconds(seconds: float, language: Language) -> str:
    number = f"{seconds:.1f}" if seconds < 60 else f"{seconds:.0f}"
    return f"{number} {'second' if number == '1.0' else 'seconds'}" if language == "en" else f"{number}秒"
