"""What a person sees while nakari runs in their terminal, and the conversation typed there."""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager
from io import TextIOWrapper
from typing import TYPE_CHECKING, Final, TypeAlias

import click

from agent.event import ASR_TRANSCRIPT, USER_TEXT
from agent.replies import SENTENCE_STARTED, SOURCES
from appliance.api.client import Question, service_of
from appliance.cli.talk.asking import print_answer
from appliance.cli.telling import refuse_where_it_follows
from appliance.cli.terminal import FAINT, STRONG, WARNING, is_terminal, print_pieces, show
from appliance.config.load import Config
from appliance.errors import ServiceNotRunning
from appliance.hints import typed_here
from appliance.input.suppressed import EARS_SUPPRESSED
from appliance.output.text import WRITTEN

if TYPE_CHECKING:
    from appliance.api.outcome import Outcome
    from appliance.wiring.box import Box

Ask: TypeAlias = "Callable[[str], Awaitable[Outcome | None]]"
"""Prints the answer to a line; cancelled, that is stopped."""

EXAMPLES: Final = '"what time is it", "set a timer for five minutes", "remember that my bike is red"'

SESSION: Final = "chat"
"""Whose context every typed conversation belongs to."""


async def show_conversation(box: "Box") -> None:
    """Say that it listens, then print what is heard and what is answered as it happens, until cancelled."""
    show(_greeting(box), STRONG)
    show("Ctrl-C ends it.", FAINT)
    envelopes = box.household.bus.observe("*")
    try:
        async for envelope in envelopes:
            if envelope.type == "runs.new":
                await _show_words(box, envelope.parent_id)
            elif envelope.type in (SENTENCE_STARTED, WRITTEN):
                _show_line("nakari", envelope.content.strip())
            elif envelope.type == SOURCES:
                for line in envelope.content.split("\n"):
                    show(f"        {line}", FAINT)
            elif envelope.type == EARS_SUPPRESSED:
                reason = envelope.metadata.get("reason") or envelope.metadata.get("suppressed") or "not for it"
                show(f"        (not taken up: {reason})", FAINT)
    finally:
        box.household.bus.forget(envelopes)


def _greeting(box: "Box") -> str:
    ears = box.input.ears
    if ears is None or ears.is_deaf:
        return typed_here("There is no microphone; I listen once there is one. Try `nakari chat` or `nakari ask TEXT`.")
    return f"I am listening; try: {EXAMPLES}."


async def _show_words(box: "Box", event_id: str) -> None:
    filed = await box.household.mailbox.find(event_id)
    if filed is not None and filed.event.type in (ASR_TRANSCRIPT, USER_TEXT) and filed.event.content:
        _show_line("you", filed.event.content)


def _show_line(who: str, words: str) -> None:
    show(f"{who:<8}", STRONG, nl=False)
    show(words)


def chat(config: Config) -> None:
    """Answer line after line, in one session, until the input ends; Ctrl-C ends an answer, or the conversation."""
    from anyio.from_thread import start_blocking_portal

    is_seen = is_terminal(sys.stdin) and is_terminal()
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # a line that is not UTF-8 is no reason to end
    if is_seen:
        import readline  # noqa: F401  what makes `input` edit a line and know the ones before

        show("Type and press Enter; Ctrl-D ends it.", FAINT)
    # The box lives in a thread of its own, so that the terminal's line is read, and interrupted, in this one.
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(_whoever_answers(config)) as ask:
        while (line := _next_line("> " if is_seen else "")) is not None:
            if not line.strip():
                continue
            answering = portal.start_task_soon(ask, line)
            try:
                answering.result()
            except KeyboardInterrupt:
                answering.cancel()
                show(" …", WARNING)
            except CancelledError:
                show(" …", WARNING)


def _next_line(prompt: str) -> str | None:
    try:
        return input(prompt)
    except EOFError:
        if prompt:
            click.echo()
        return None


@asynccontextmanager
async def _whoever_answers(config: Config) -> AsyncIterator[Ask]:
    """Give what asks the running service, or a box opened for this conversation."""
    try:
        path = await service_of(config)
    except ServiceNotRunning:
        from appliance.cli.talk.alone import asking

        refuse_where_it_follows(config)
        async with asking(config, SESSION) as answer:
            yield lambda text: print_pieces(answer(text, ()))
    else:
        yield lambda text: print_answer(path, Question(text, SESSION))
