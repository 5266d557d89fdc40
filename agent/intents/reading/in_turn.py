"""Several wishes answered one after the other: which were told already, and what comes next."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from agent.intents.dialog_state import Action, DialogState, Turn


def begun(state: DialogState, parts: Sequence[str]) -> tuple[int, DialogState]:
    """Return how many of the wishes were told already, and the state as the present one sees it: those are earlier.

    Each ends with its own reply, whatever became of that; the last one stays present.
    """
    if len(parts) == 1:
        return 0, state
    told: list[Turn] = []
    results, replies = list(state.turn.results), list(state.turn.replies)
    while len(told) < len(parts) - 1:
        end = next((number for number, each in enumerate(results, 1) if each.tool == "reply"), 0)
        if not end:
            break
        block = replace(state.turn.block, words=parts[len(told)])
        told.append(Turn(block, tuple(results[:end]), tuple(replies[:1])))
        results, replies = results[end:], replies[1:]
    present = Turn(replace(state.turn.block, words=parts[len(told)]), tuple(results), tuple(replies))
    return len(told), replace(state, earlier=(*state.earlier, *told), turn=present)


def one_by_one(state: DialogState, parts: Sequence[str], answer: Callable[[DialogState], list[Action]]) -> list[Action]:
    """Return the calls of the next answer to the first of the wishes, and of the next ones as far as it is told.

    What is said of one wish goes with the first calls of the next: an answer that only replies ends an event.
    """
    actions = answer(state)
    said = next((action for action in actions if action.tool == "reply"), None)
    if len(parts) == 1 or said is None:
        return actions
    before = replace(state.turn, replies=(str(said.arguments["text"]),))
    present = Turn(replace(state.turn.block, words=parts[1]))
    after = replace(state, earlier=(*state.earlier, before), turn=present)
    return [said, *one_by_one(after, parts[1:], answer)]
