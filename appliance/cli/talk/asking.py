"""A question that the running service answers, printed as it comes; Ctrl-C stops it there."""

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from appliance.api.client import Question, answer_to, is_waiting
from appliance.cli.terminal import FAINT, print_pieces, show
from appliance.hints import typed_here
from audio.loops import running

if TYPE_CHECKING:
    from appliance.api.outcome import Outcome

SILENCE_SECONDS: Final = 2.0
"""After which somebody who waits is told that something else is being answered."""

BUSY: Final = "your question is in line: it is still answering something else"


async def print_answer(path: Path, question: Question, key: bytes = b"") -> "Outcome | None":
    """Print the answer of the service at `path` as it comes; return the outcome, None where it was completed.

    It says so where the question waits until something else is answered.
    """
    async with running({"ask: whether it waits": partial(_tell_of_waiting, path, question.id, key)}):
        return await print_pieces(answer_to(path, question, key))


async def _tell_of_waiting(path: Path, event_id: str, key: bytes) -> None:
    await asyncio.sleep(SILENCE_SECONDS)
    if await is_waiting(path, event_id, key):
        show(BUSY if key else typed_here(f"{BUSY}; `nakari stop` ends that"), FAINT, err=True)
