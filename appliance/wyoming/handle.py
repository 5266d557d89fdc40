"""Conversation agent: what a program passes on of a person is asked of the agent, and answered in writing."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Final, Literal, Protocol, TypeAlias

from msgspec import Struct
from wyoming.handle import Handled, HandledChunk, HandledStart, HandledStop, NotHandled

from agent.event import HOUSEHOLD, ROOM
from appliance.api.outcome import Outcome, in_words
from appliance.errors import Exit, Problem
from appliance.output.text import names_sources
from appliance.wyoming.wire import EventStream
from memory.json_value import Json

PATIENCE_SECONDS: Final = 120.0
"""After which a program is told that the answer comes later: Home Assistant ends a whole dialogue after 300 s."""

MOST_CHARACTERS: Final = 10_000
"""Of what a person says at one go."""

MOST_NAME: Final = 100
"""Characters of a conversation's or a room's name."""

SESSION: Final = "wyoming"
"""Whose context it is where a program names no conversation."""

ROOMS: Final = ("area", "area_name", "satellite_area", "room")
"""Keys of the context under which a program may tell where it was said. Home Assistant 2026.2 tells it nowhere."""


_GOES_ON: Final = ("late", "suspended")
"""Endings without a word that are an answer all the same."""


Ending: TypeAlias = Outcome | Literal["late"] | None
"""How a question ended; "" is in its answer."""


class Asked(Protocol):
    """The household's own way to ask."""

    def ask(
        self, text: str, session: str, owner_key: str, *, marks: Mapping[str, Json]
    ) -> AsyncGenerator[str | Outcome, None]:
        """Yield the words of the answer as they come, and the outcome where it was not completed.

        `marks` are what else its event carries.

        Closing it says that nobody listens any more; the event is answered all the same. Raises `Problem`.
        """


class Conversation(Struct, frozen=True):
    """Asks for the household, whoever comes."""

    asked: Asked
    patience: float = PATIENCE_SECONDS

    async def answer(self, text: str, context: Mapping[str, object], stream: EventStream) -> None:
        """Ask what a person said, and send the answer as it comes, then all of it. Raises `ClientGone`.

        Last of all comes an event that every program understands: the answer, or why there is none.
        """
        words = ""
        outcome: Ending = None
        try:
            async with asyncio.timeout(self.patience), aclosing(self._pieces(text, context)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Outcome):
                        outcome = piece
                        break
                    await stream.write(*([] if words else [HandledStart()]), HandledChunk(piece))
                    words += piece
        except TimeoutError:
            outcome = "late"
        except Problem as problem:
            await stream.write(NotHandled(problem.sentence))
            return
        await self._end(words, outcome, text, stream)

    async def _pieces(self, text: str, context: Mapping[str, object]) -> AsyncGenerator[str | Outcome, None]:
        """Yield what is to be said of the answer, no white space at its end, and how it ended."""
        if not text.strip() or len(text) > MOST_CHARACTERS:
            raise Problem(f"this has no words, or more than {MOST_CHARACTERS:,} characters", Exit.USAGE)
        space = ""
        room = room_in(context)
        asked = self.asked.ask(text.strip(), session_of(context), HOUSEHOLD, marks={ROOM: room} if room else {})
        async with aclosing(asked) as answer:
            async for item in answer:
                if isinstance(item, Outcome):
                    yield item
                elif not names_sources(item):
                    words = (space + item).rstrip()
                    space = (space + item)[len(words) :]
                    if words:
                        yield words

    async def _end(self, words: str, outcome: Ending, text: str, stream: EventStream) -> None:
        status = outcome.status if isinstance(outcome, Outcome) else outcome
        is_answered = bool(words) or status in _GOES_ON
        if not words or outcome == "late":
            told = in_words(outcome or "nothing", text)
            if words:
                await stream.write(HandledChunk(f" {told}"))
            words = f"{words} {told}".strip()
        if not is_answered:
            await stream.write(NotHandled(words))
            return
        await stream.write(Handled(words), HandledStop())


def session_of(context: Mapping[str, object]) -> str:
    """Return the session of a conversation; one for all that have no name."""
    name = _name(context.get("conversation_id"))
    return f"{SESSION} {name}" if name else SESSION


def room_in(context: Mapping[str, object]) -> str:
    """Return where it was said, "" where that is not told."""
    return next(filter(None, (_name(context.get(key)) for key in ROOMS)), "")


def _name(told: object) -> str:
    """Return a name that a program told, on one line; a long one as its digest, for two may begin alike."""
    seen = "".join(each if each.isprintable() else " " for each in told) if isinstance(told, str) else ""
    name = " ".join(seen.split())
    return name if len(name) <= MOST_NAME else hashlib.sha256(name.encode()).hexdigest()[:32]
