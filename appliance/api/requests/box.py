"""What may be asked of the box itself: how it is, a question, a command, an event, a text to say, to forget."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Annotated, Literal, Protocol

from pydantic import AfterValidator, Field, JsonValue, StringConstraints

from agent.attachments.attachment import ATTACHMENTS
from appliance.api import answer_models as answers
from appliance.api.attaching import Attached
from appliance.api.caller import TYPED, Caller
from appliance.api.outcome import Outcome
from appliance.api.register import Answer, AnyEntry, Asked, Entry, Gone, Name, Q, Tell, Words, failure_of
from memory.json_value import Json
from memory.state.importance import UNSET


def _portable(value: dict[str, JsonValue]) -> dict[str, JsonValue]:
    json.dumps(value, allow_nan=False)  # NaN and Infinity would pass here and be no JSON for the next reader
    if ATTACHMENTS in value:
        raise ValueError(f"should have no {ATTACHMENTS}: those come by POST /attachments, with an ask")
    return value


Metadata = Annotated[dict[str, JsonValue], AfterValidator(_portable)]


class Ping(Asked, do="ping"):
    """Whether anybody is there."""


class Status(Asked, do="status"):
    """How it is."""


class Ask(Asked, do="ask"):
    """Somebody types; the answer comes back here."""

    text: Words
    session: Name = "cli"
    """Whose context it belongs to; each program should choose its own."""
    speak: bool = False
    """Whether the answer is said in the room too; the household's only."""
    stream: bool = True
    """Whether the answer comes piece by piece, or whole with `run_finished`."""
    attachments: Attached = Field(default_factory=list)
    """What the question is about."""
    id: Annotated[str, StringConstraints(pattern="^[0-9a-f]{32}$")] | None = None
    """The event's that it becomes, of a program that may want to stop it; one that no event has."""


class StopAnswer(Asked, do="ask.stop"):
    """Somebody does not want the answer to a question of theirs any more: it ends, or is not begun."""

    id: Name


class Say(Asked, do="say"):
    """Somebody has it say a text in the room; the answer comes when that is over."""

    text: Words
    id: Name | None = None
    """Said once, however often it is asked for by this id."""


class Enqueue(Asked, do="enqueue"):
    """Something happened that it should know of."""

    type: Name
    content: str = ""
    priority: Annotated[int, Field(ge=-1000, le=1000)] = 0
    importance: Annotated[float, Field(ge=0, le=1)] = UNSET
    """How much it matters to memory; above 0.6 is kept for long."""
    metadata: Metadata = Field(default_factory=dict)


class Hush(Asked, do="hush"):
    """Somebody acts on it as by a reflex word."""

    what: Literal["stop", "wait", "go on", "quieter", "louder", "repeat", "mute", "unmute", "volume", "snooze"]
    percent: Annotated[int, Field(ge=0, le=100)] = 100
    """Of volume."""
    minutes: Annotated[float, Field(gt=0, le=720)] | None = None
    """Of snooze; the usual five where none are given."""


class Forget(Asked, do="forget"):
    """Somebody wants forgotten what the household told it last, aloud or in writing."""

    last: Annotated[int, Field(ge=1, le=1000)] = 1
    """So many turns."""
    minutes: Annotated[float, Field(gt=0, le=100_000)] | None = None
    """All of so many minutes, instead."""
    these: Annotated[list[Name], Field(max_length=1000)] = Field(default_factory=list)
    """Or the things that "forget.preview" named, and nothing that was said since."""


class PreviewForget(Asked, do="forget.preview"):
    """Somebody wants to see what would be forgotten."""

    last: Annotated[int, Field(ge=1, le=1000)] = 1
    minutes: Annotated[float, Field(gt=0, le=100_000)] | None = None
    about: Annotated[str, Field(max_length=200)] = ""
    """Or all that was said with these words, however long ago, instead."""


class Calibrate(Asked, do="calibrate"):
    """Somebody wants its echo measured: a loudspeaker was moved."""


class GiveCommand(Asked, do="command"):
    """Somebody gives a command, such as "/ping"; it is answered at once, also while no model is there."""

    text: Words
    """With its slash or without."""
    session: Name = TYPED
    """The context that /history and /clear are about."""

    @property
    def name(self) -> str:
        """Its first word, for the record; what stands behind it may be anybody's words."""
        return self.text.strip().removeprefix("/").partition(" ")[0][:40]


class UseModel(Asked, do="model"):
    """Somebody wants another model to think from the next event on."""

    use: Name
    """Its alias: configured, offline, or one of [models.NAME]."""


class CommandedBox(Protocol):
    """The box, as far as commands ask it."""

    async def ping(self) -> Mapping[str, Json]:
        """Return version, uptime and how much waits."""

    async def status(self, owner_key: str) -> Mapping[str, Json]:
        """Return how it is, as far as this owner may know."""

    async def hush(self, request: Hush) -> str:
        """Act as on a reflex word; return the sentence that says what was done."""

    async def forget(self, request: Forget) -> str:
        """Erase what was heard; return the sentence that says how that went."""


class DoorHandler(CommandedBox, Protocol):
    """Who answers behind the doors; called on the event loop, by many programs at a time."""

    def ask(
        self,
        text: str,
        session: str,
        owner_key: str,
        *,
        marks: Mapping[str, Json],
        attached: Sequence[str] = (),
        event_id: str = "",
    ) -> AsyncGenerator[str | Outcome, None]:
        """Yield the answer to a person's text as it is written, and the outcome where it was not completed.

        `marks` are what else its event carries: `speak` has it said in the room as well. `attached` are names of files
        that this owner gave before; `event_id` is its event's, where the program chose one.

        Closing it says that nobody listens any more.
        """

    async def stop_answer(self, event_id: str, owner_key: str) -> str:
        """End the answer to an event of this owner, and to nothing else; return the sentence that says so."""

    async def enqueue(self, request: Enqueue, session: str, owner_key: str) -> str:
        """Put an event into the mailbox and return its id once it is durable."""

    async def say(self, request: Say) -> str:
        """Say a text in the room; return the sentence that says how that went."""

    async def would_forget(self, request: PreviewForget) -> list[Json]:
        """Return id and words of each thing that would be erased, the oldest first."""

    async def calibrate(self) -> str:
        """Measure its echo; return the sentence that says what was found."""

    async def command(self, text: str, caller: Caller, session: str) -> str:
        """Do what a command asks; return what is told, on the bus too. Raises `Problem`."""


def entries(handler: DoorHandler, use: Callable[[str], Awaitable[str]]) -> list[AnyEntry]:
    """Return what may be asked of the box; `use` has a model think, by its alias, and returns what was done."""

    async def ping(request: Ping, caller: Caller, tell: Tell) -> Answer:
        return {"pong": True, **await handler.ping()}

    async def status(request: Status, caller: Caller, tell: Tell) -> Answer:
        return await handler.status(caller.owner_key)

    async def stop_answer(request: StopAnswer, caller: Caller, tell: Tell) -> Answer:
        return {"done": await handler.stop_answer(request.id, caller.owner_key)}

    async def enqueue(request: Enqueue, caller: Caller, tell: Tell) -> Answer:
        return {"id": await handler.enqueue(request, caller.home, caller.owner_key)}

    async def command(request: GiveCommand, caller: Caller, tell: Tell) -> Answer:
        text = "/" + request.text.strip().removeprefix("/")
        return {"done": await handler.command(text, caller, caller.session(request.session))}

    async def would_forget(request: PreviewForget, caller: Caller, tell: Tell) -> Answer:
        return {"events": await handler.would_forget(request)}

    return [
        Entry(Ping, answers.Pong, ping, "GET /ping", is_for_all=True),
        Entry(Status, answers.Status, status, "GET /status", is_for_all=True),
        Entry(Ask, answers.Ended, _asking(handler), "POST /ask", is_for_all=True, is_streamed=True, only_tells=True),
        Entry(StopAnswer, answers.Done, stop_answer, is_for_all=True, is_command=True),
        Entry(Enqueue, answers.Id, enqueue, "POST /events", is_for_all=True),
        Entry(Say, answers.Done, _done(handler.say), is_command=True),
        Entry(Hush, answers.Done, _done(handler.hush), is_command=True),
        Entry(Forget, answers.Done, _done(handler.forget), is_command=True),
        Entry(PreviewForget, answers.WouldForget, would_forget),
        Entry(Calibrate, answers.Done, _done(lambda _: handler.calibrate()), is_command=True),
        Entry(GiveCommand, answers.Done, command, "POST /command", is_for_all=True),
        Entry(UseModel, answers.Done, _done(lambda request: use(request.use)), is_command=True),
    ]


def _done(act: Callable[[Q], Awaitable[str]]) -> Callable[[Q, Caller, Tell], Awaitable[Answer]]:
    async def answer(request: Q, caller: Caller, tell: Tell) -> Answer:
        return {"done": await act(request)}

    return answer


def _asking(handler: DoorHandler) -> Callable[[Ask, Caller, Tell], Awaitable[Answer]]:
    async def ask(request: Ask, caller: Caller, tell: Tell) -> Answer:
        pieces: list[str] = []
        ended: dict[str, Json] = {"event": "run_finished", "status": "completed"}
        asked = handler.ask(
            request.text,
            caller.session(request.session),
            caller.owner_key,
            marks={"speak": True} if request.speak else {},
            attached=request.attachments,
            event_id=request.id or "",
        )
        try:
            async with aclosing(asked) as answer:
                async for piece in answer:
                    if isinstance(piece, Outcome):
                        ended |= {"status": piece.status, "id": piece.event_id, "reason": piece.reason}
                    elif request.stream:
                        tell({"event": "text_chunk", "chunk": piece})
                    else:
                        pieces.append(piece)
        except Gone:
            raise
        except Exception as error:  # noqa: BLE001  the pieces that came were told already
            return {"event": "run_finished", "status": "failed", **failure_of(error)}
        return ended | ({} if request.stream else {"text": "".join(pieces)})

    return ask
