"""What comes before an answer without a model: a call whose result it is made of, or the word why there is none."""

from datetime import datetime

from agent.intents.dialog_state import Action, DialogState, ToolResult
from agent.intents.saying.phrases import phrase
from memory.json_value import Json


class First(Exception):
    """Raised where calls come before an answer, or words take its place."""

    def __init__(self, outcome: list[Action] | str) -> None:
        super().__init__()
        self.outcome = outcome


def result_of(state: DialogState, tool: str, **arguments: Json) -> ToolResult:
    """Return what came of the last call of a tool in this turn, also where it failed. Raises First with the call."""
    result = state.result(tool)
    if result is None:
        raise First([state.action(tool, **arguments)])
    return result


def answer_of(state: DialogState, tool: str, **arguments: Json) -> ToolResult:
    """Return what a tool answered in this turn. Raises First with the call, or with the words that it failed."""
    return worked(state, result_of(state, tool, **arguments))


def worked(state: DialogState, result: ToolResult) -> ToolResult:
    """Return a result again. Raises First with the words that it failed, where it did."""
    if result.has_failed:
        raise First(phrase("failed", state.language, reason=result.reason))
    return result


def done(state: DialogState, result: ToolResult) -> ToolResult:
    """Return a result again. Raises First with the words that it failed, or that nobody knows what came of it."""
    if result.is_uncertain:
        raise First(phrase("perhaps_done", state.language))
    return worked(state, result)


def now_at(state: DialogState) -> datetime:
    """Return the time at home, aware. Raises First with the words that nobody knows it."""
    if state.now is None:
        raise First(phrase("no_clock", state.language))
    return state.now
