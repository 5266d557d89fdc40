"""What the doors ask of the running appliance: an answer, an event in the mailbox, the status."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Protocol

import structlog
from msgspec import Struct
from msgspec.structs import replace

from agent.attachments.attachment import Document, in_metadata
from agent.bus import Bus
from agent.context.situation import CLIENT_OFFSET, CLIENT_TIME
from agent.event import HOUSEHOLD, TIMER, USER_TEXT, Event, new_id, utc_now
from agent.loop import Loop
from agent.mailbox import Mailbox
from agent.record import COMMAND, COMMAND_RESULT
from appliance.api.attaching import Attaching
from appliance.api.caller import ROOM, Caller
from appliance.api.event_intake import EventIntake
from appliance.api.outcome import Outcome, outcome_of
from appliance.api.parts import PATIENCE, Told
from appliance.api.register import Asked, name_of
from appliance.api.requests.box import Enqueue, Forget, GiveCommand, Hush, PreviewForget, Say
from appliance.api.requests.mailbox import ChangeWaiting, MailboxRequest, Withdraw, answer_of
from appliance.commands.registry import Commands
from appliance.errors import Exit, Problem
from appliance.input.event import PERSON_PRIORITY
from appliance.output.saying import DoorReplies
from appliance.reflexes.reflexes import Reflexes
from appliance.reflexes.verbs import Order
from appliance.version import version
from memory.errors import MemoryFailure, StateUnusable
from memory.json_value import Json

if TYPE_CHECKING:
    from appliance.live.from_client import UserWords

STOPPED: Final = "stopped by whoever asked"
"""Why a question was withdrawn that nobody waits for any more."""


class ActedOn(Protocol):
    """The senses, as far as somebody at a door acts on them."""

    @property
    def reflexes(self) -> Reflexes:
        """What acts at once."""

    async def forget(self, last: int, minutes: float | None, these: Collection[str]) -> str:
        """Forget so many turns, or all of so many minutes, or these events; return the sentence that tells of it."""

    async def would_forget(self, last: int, minutes: float | None, about: str) -> list[Event]:
        """Return what `forget` would erase, or what was said with all of some words; the oldest first."""

    async def calibrate(self) -> str:
        """Measure its echo; return the sentence that says what was found."""


class Household(Struct, frozen=True):
    """Handles the requests of the doors (`appliance.api.requests.box.DoorHandler`)."""

    letters: EventIntake
    attaching: Attaching
    bus: Bus
    replies: DoorReplies
    loop: Loop
    senses: ActedOn
    told: Told
    commands: Commands

    @property
    def mailbox(self) -> Mailbox:
        """Where everything goes that is put in."""
        return self.letters.mailbox

    async def ping(self) -> dict[str, Json]:
        """Return version, uptime, and how many events wait."""
        counts = await self.mailbox.counts(None)
        return {"version": version(), "uptime_seconds": self.told.uptime, "waiting": counts.get("pending", 0)}

    async def ask(
        self,
        text: str,
        session: str,
        owner_key: str = HOUSEHOLD,
        *,
        marks: Mapping[str, Json] = MappingProxyType({}),
        attached: Sequence[str | Document] = (),
        event_id: str = "",
    ) -> AsyncGenerator[str | Outcome, None]:
        """Put a line of text into the mailbox and yield the words of the answer as they come, until the run is over.

        Commands, and the household's reflex words, are answered at once and go no further; nobody else's words act on
        the room. `marks` are what else the event carries: with `speak` the answer is said in the room too, where it is
        the household's. `attached` are names of files that were given before, and documents; `event_id` is the event's
        where it was chosen. Last comes the outcome, unless it was completed.
        """
        if event_id and await self.mailbox.find(event_id) is not None:  # whose answer is for who asked then
            raise Problem(f"there is an event {event_id} already; choose another id", Exit.USAGE)
        names = [each for each in attached if isinstance(each, str)]
        if not names and (done := await self._at_once(text, Caller(owner_key), session)):
            yield done
            return
        documents = [each for each in attached if isinstance(each, Document)]
        given = (*(await self.attaching.given(owner_key, names) if names else ()), *documents)
        event = _typed(text, session, owner_key, "cli", {**marks, **in_metadata(given)})
        event = replace(event, id=event_id) if event_id else event
        with self.replies.text.listening(event.id) as pieces:
            await self.letters.put(event)
            async for piece in pieces:
                yield piece
        if (outcome := outcome_of(await self.mailbox.find(event.id))) is not None:
            yield outcome

    async def write(self, words: "UserWords", caller: Caller, marks: Mapping[str, Json]) -> Mapping[str, Json]:
        """Put what a client sent into the mailbox and return its event's id; durable on return.

        Its answer is told by the streams, and sounds where `marks` say. Of commands, and the household's reflex words,
        what was done, at once, and no event.
        """
        owner_key, attached, session = caller.owner_key, words.attachments, caller.session(words.session)
        if not attached and (done := await self._at_once(words.content, caller, session)):
            return {"event_id": None, "done": done}
        given = await self.attaching.given(owner_key, attached) if attached else ()
        metadata: dict[str, Json] = {**marks, **in_metadata(given)}
        if words.client_timestamp_utc is not None:
            metadata[CLIENT_TIME] = words.client_timestamp_utc.isoformat()
        if words.client_timezone_offset is not None:
            metadata[CLIENT_OFFSET] = words.client_timezone_offset
        event = _typed(words.content, session, owner_key, "http", metadata)
        await self.letters.put(event)
        return {"event_id": event.id}

    async def command(self, text: str, caller: Caller, session: str) -> str:
        """Do what a command asks, and return what is told; published with its result. Raises `Problem`."""
        async with published(self.bus, GiveCommand(text=text), caller):
            return await self.commands.answer(text, self, caller, session)

    async def _at_once(self, text: str, caller: Caller, session: str) -> str:
        """Answer what needs no agent; "" for all else."""
        if self.commands.name_in(text):
            try:
                return await self.command(text, caller, session)
            except Problem as problem:  # told where the answer is read
                return problem.sentence
        return await self.senses.reflexes.typed(text, session) if caller.is_household else ""

    async def stop(self, caller: Caller) -> None:
        """Stop the answer that is being given: for the household as its reflex word does, for others their own."""
        run = self.loop.run_in_hand
        if caller.is_household:
            await self.hush(Hush(what="stop"))
        elif run is not None and run.event.owner_key == caller.owner_key:
            self.loop.interrupt(run.event.id)

    async def stop_answer(self, event_id: str, owner_key: str = HOUSEHOLD) -> str:
        """End the answer to one event of this owner, or drop it where it was not begun. Raises `Problem`."""
        filed = await self.mailbox.find(event_id)
        if filed is None or filed.event.owner_key != owner_key:
            raise Problem(f"there is no event {event_id}; `nakari events` lists what waits", Exit.NO_INPUT)
        if not self.loop.interrupt(event_id):
            if not await self.mailbox.withdraw(event_id, STOPPED):
                return "It is over already."
            self.replies.text.finish(event_id)
        return "It is stopped."

    async def enqueue(self, request: Enqueue, session: str = ROOM, owner_key: str = HOUSEHOLD) -> str:
        """Put any event into the mailbox and return its id; durable on return."""
        if owner_key != HOUSEHOLD and request.priority > PERSON_PRIORITY:
            raise Problem(f"priority: at most {PERSON_PRIORITY} for what is not the household's", Exit.NOT_ALLOWED)
        event = Event(
            type=request.type,
            content=request.content,
            owner_key=owner_key,
            session_id=session,
            source="system",
            priority=request.priority,
            importance=request.importance,
            metadata=request.metadata,
        )
        await self.letters.put(event)
        return event.id

    async def status(self, owner_key: str = HOUSEHOLD, besides: Collection[str] = ()) -> dict[str, Json]:
        """Return what runs, since when, and how it is; to another owner than the household only what is theirs.

        `besides` are parts that are not asked.
        """
        is_household = owner_key == HOUSEHOLD
        run = self.loop.run_in_hand
        is_told = is_household or (run is not None and run.event.owner_key == owner_key)
        return {
            "version": version(),
            "uptime_seconds": self.told.uptime,
            **await self._kept(owner_key),
            "run": run.describe() if run and is_told else None,
            **(await self.told.described(besides) if is_household else {}),
        }

    async def _kept(self, owner_key: str) -> dict[str, Json]:
        """Return what the mailbox tells for the status; nothing, and why, where it cannot be read."""
        try:
            async with asyncio.timeout(PATIENCE):
                waiting = await self.mailbox.waiting(TIMER, owner_key)
                timers = sorted(each.not_before for each in waiting if each.not_before)
                return {
                    "mailbox": dict(await self.mailbox.counts(None if owner_key == HOUSEHOLD else owner_key)),
                    "own_work": await self.mailbox.economy(owner_key),
                    "timers": {"waiting": len(timers), "next": timers[0].isoformat() if timers else ""},
                }
        except (TimeoutError, StateUnusable) as error:
            unread = str(error) or "the state database does not answer; see with dmesg whether its disk fails"
            return {"mailbox": {}, "own_work": {}, "timers": {"waiting": 0, "next": ""}, "unread": unread}

    async def say(self, request: Say) -> str:
        """Say a text in the room; return the sentence that says how that went. Raises `Problem` where it was not."""
        if not await self.replies.sayings.say(request.text, request.id or new_id()):
            why = "somebody stopped it, or voice or loudspeaker is missing: `nakari doctor` tells"
            raise Problem(f"it was not said, or not to its end; {why}", Exit.FAULT)
        return "It is said."

    async def hush(self, request: Hush) -> str:
        """Act as on a reflex word; return the sentence that says what was done, "" when there was nothing to."""
        return await self.senses.reflexes.told(Order(request.what, request.percent, request.minutes))

    async def forget(self, request: Forget) -> str:
        """Erase what was heard; return the sentence that says how that went."""
        return await self.senses.forget(request.last, request.minutes, request.these)

    async def would_forget(self, request: PreviewForget) -> list[Json]:
        """Return id and words of each thing that would be erased, the oldest first."""
        events = await self.senses.would_forget(request.last, request.minutes, request.about)
        return [{"id": event.id, "words": event.content, "at": event.created_at.isoformat()} for event in events]

    async def calibrate(self) -> str:
        """Measure its echo; return the sentence that says what was found."""
        return await self.senses.calibrate()

    async def mail(self, request: MailboxRequest, owner_key: str = HOUSEHOLD) -> Mapping[str, Json]:
        """Tell what is in the mailbox, or try or drop one of its events; who waits for an answer to that is let go."""
        answer = await answer_of(self.mailbox, request, owner_key)
        if isinstance(request, Withdraw) or (isinstance(request, ChangeWaiting) and request.cancel):
            self.replies.text.finish(request.id)
        return answer

    async def end_clients(self) -> None:
        """Tell each waiting text client when its run is over, until cancelled."""

        async def tell(envelope: Event) -> None:
            if envelope.metadata.get("event") == "run_finished":
                self.replies.text.finish(envelope.parent_id)

        await self.bus.attend("ui.events", tell)


def _typed(text: str, session: str, owner_key: str, source: str, metadata: Mapping[str, Json]) -> Event:
    return Event(
        USER_TEXT,
        text,
        owner_key=owner_key,
        session_id=session,
        source=source,
        priority=PERSON_PRIORITY,
        metadata=metadata,
    )


log = structlog.get_logger()

_TOLD: Final = ("what", "use", "name", "id")
"""Fields of a request that its envelope repeats: no words, and no value of a setting."""


@asynccontextmanager
async def published(bus: Bus, request: Asked, caller: Caller) -> AsyncIterator[None]:
    """Publish a command before the block and its result after it: completed, failed or cancelled.

    Both have the same `run_id`; that of a command at a door is its own. Those of an owner's erasure are the
    household's, for theirs are erased. A disk that refuses them, or does not answer, stops no command.
    """
    name, command_id = name_of(type(request)), new_id()
    whose = Caller() if name == "forget.owner" else caller
    told = {field: value for field in _TOLD if isinstance(value := getattr(request, field, None), str)}
    command = Event(
        COMMAND,
        id=command_id,
        owner_key=whose.owner_key,
        session_id=whose.home,
        source="door",
        metadata={"command": name, **told, "run_id": command_id},
    )
    await _publish(bus, command)
    status = "failed"
    try:
        yield
        status = "completed"
    except asyncio.CancelledError:
        status = "cancelled"
        raise
    finally:
        metadata = {**command.metadata, "status": status}
        result = replace(command, type=COMMAND_RESULT, id=new_id(), parent_id=command_id, created_at=utc_now())
        await _publish(bus, replace(result, status=status, metadata=metadata))


async def _publish(bus: Bus, envelope: Event) -> None:
    try:
        async with asyncio.timeout(PATIENCE):
            await bus.publish(envelope, durable=False)
    except (MemoryFailure, TimeoutError) as error:
        log.warning("command_not_journaled", reason=str(error) or "the disk does not answer")
