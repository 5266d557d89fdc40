"""What may be asked at the door of its mailbox: what is in it, and to try or drop one of its events."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Final, Literal, TypeAlias, get_args

from pydantic import AwareDatetime, Field

from agent.errors import ToolFailed
from agent.event import HOUSEHOLD, MODEL_AVAILABLE, TIMER, Event
from agent.mailbox import Mailbox
from agent.mailbox.mail import MailboxRecord, State
from agent.time.series import SERIES
from agent.tools.events import Change, change_waiting
from agent.tools.timers import label_of
from appliance.api import answer_models as answers
from appliance.api.caller import Caller
from appliance.api.register import Answer, AnyEntry, Asked, Entry, Name, Tell
from appliance.errors import Exit, Problem
from memory.json_value import Json

BY_COMMAND = "withdrawn by command"

OF_ANOTHER_OWNER: Final = "of another owner"
"""In place of the type of an event whose words are not for whoever looks."""

ROOM: Final = 8_000_000
"""Bytes of the events in one answer: half of what a program has to take (`appliance.api.client.ANSWER_BYTES`)."""

MOST_SUSPENDED: Final = 1000
"""Newest suspended events that are looked through for those that wait for a model."""

TEXTS: Final = ("content", "note", "reason", "summary")
"""What of an event may be long; all are cut alike where the events have no room together."""

LONGEST_CHARACTER: Final = 6
"""Bytes of a character in JSON, such as \\u0001."""


class ListMailbox(Asked, do="mailbox"):
    """Which events are in a state, the newest first; "waiting" are those of the suspended that wait for a model."""

    state: State | Literal["waiting"] = "dead"
    limit: Annotated[int, Field(ge=1, le=1000)] = 20


class Retry(Asked, do="mailbox.retry"):
    """Take an event out of the dead letter; it is handled as if it were new."""

    id: Name


class Withdraw(Asked, do="mailbox.withdraw"):
    """Drop an event that waits."""

    id: Name


class ListWaiting(Asked, do="events"):
    """Which of the owner's events wait, the next one first."""

    limit: Annotated[int, Field(ge=1, le=1000)] = 20


class ChangeWaiting(Asked, do="events.change"):
    """Cancel one of the owner's events that waits, or give it another priority, another time, or both."""

    id: Name
    cancel: bool = False
    priority: Annotated[int, Field(ge=-10, le=10)] | None = None
    not_before: AwareDatetime | None = None


class ListTimers(Asked, do="timers"):
    """Which timers and alarms are set, the next one first."""


class LookAt(Asked, do="events.one"):
    """How one of the owner's events stands."""

    id: Name


MailboxRequest: TypeAlias = ListMailbox | ListTimers | ListWaiting | LookAt | ChangeWaiting | Retry | Withdraw

MODELS: Final[tuple[type[MailboxRequest], ...]] = get_args(MailboxRequest)

Mail: TypeAlias = Callable[[MailboxRequest, str], Awaitable[Mapping[str, Json]]]
"""Tells what of an owner's is in the mailbox, or tries or drops one of its events."""


def entries(mail: Mail) -> list[AnyEntry]:
    """Return what may be asked of the mailbox."""

    async def handle(request: MailboxRequest, caller: Caller, tell: Tell) -> Answer:
        return await mail(request, caller.owner_key)

    return [
        Entry(ListMailbox, answers.Mailbox, handle, "GET /mailbox", is_for_all=True),
        Entry(ListWaiting, answers.Waiting, handle, "GET /events", is_for_all=True),
        Entry(LookAt, answers.Event, handle, "GET /events/{id}", is_for_all=True),
        Entry(ChangeWaiting, answers.Done, handle, "POST /events/{id}", is_for_all=True, is_command=True),
        Entry(ListTimers, answers.Timers, handle, "GET /timers", is_for_all=True),
        Entry(Retry, answers.Done, handle, is_for_all=True, is_command=True),
        Entry(Withdraw, answers.Done, handle, is_for_all=True, is_command=True),
    ]


async def answer_of(mailbox: Mailbox, request: MailboxRequest, owner_key: str = HOUSEHOLD) -> dict[str, Json]:
    """Do what is asked, and return the answer. Raises `Problem` for an event that is not where it should be.

    The household keeps the box, and may drop or try whatever is there, but it reads no other owner's words; for anybody
    else there are no events but their own.
    """
    whose = None if owner_key == HOUSEHOLD else owner_key
    match request:
        case ChangeWaiting():
            return {"done": await _changed(mailbox, request, owner_key)}
        case Retry():
            is_there = await _is_of(mailbox, request.id, whose)
            if not (is_there and await mailbox.retry(request.id)):
                raise Problem(
                    f"there is no event {request.id} in the dead letter; `nakari mailbox` lists it",
                    Exit.FAULT if is_there else Exit.NO_INPUT,
                )
            return {"done": "It is tried again."}
        case Withdraw():
            is_there = await _is_of(mailbox, request.id, whose)
            if not (is_there and await mailbox.withdraw(request.id, BY_COMMAND)):
                raise Problem(
                    f"no event {request.id} is waiting; `nakari mailbox --state pending` lists them",
                    Exit.FAULT if is_there else Exit.NO_INPUT,
                )
            return {"done": "It is withdrawn."}
    return await _seen(mailbox, request, owner_key, whose)


async def _seen(
    mailbox: Mailbox, request: ListMailbox | ListTimers | ListWaiting | LookAt, owner_key: str, whose: str | None
) -> dict[str, Json]:
    match request:
        case ListMailbox():
            found = await _listed(mailbox, request, whose)
            events = [shown(filed) if filed.event.owner_key == owner_key else without_words(filed) for filed in found]
            return {"counts": dict(await mailbox.counts(whose)), "events": [*within(events, ROOM)]}
        case ListTimers():
            return {"timers": [timer_of(event) for event in await mailbox.waiting(TIMER, owner_key)]}
        case LookAt():
            found_one = await mailbox.find(request.id)
            if found_one is None or found_one.event.owner_key != owner_key:
                raise Problem(f"there is no event {request.id}; `nakari events` lists what waits", Exit.NO_INPUT)
            return shown(found_one)
        case ListWaiting():
            waiting = await mailbox.coming(owner_key, request.limit)
            return {"events": [filed.outlined(mailbox.now()) for filed in waiting]}


async def _listed(mailbox: Mailbox, request: ListMailbox, whose: str | None) -> list[MailboxRecord]:
    if request.state != "waiting":
        return await mailbox.listed(request.state, request.limit, whose)
    suspended = await mailbox.listed("suspended", MOST_SUSPENDED, whose)
    return [filed for filed in suspended if filed.waits_for == MODEL_AVAILABLE][: request.limit]


def timer_of(event: Event) -> Json:
    """Return a timer as it is listed: its id, what it is for, when it rings (ISO, UTC), and its rule if it repeats."""
    due = event.not_before or event.created_at
    series = event.metadata.get(SERIES)
    rule = series["rule"] if isinstance(series, dict) else ""
    return {"id": event.id, "label": label_of(event), "due": due.isoformat(), "repeats": rule}


async def _changed(mailbox: Mailbox, request: ChangeWaiting, owner_key: str) -> str:
    """Do to an event that waits what the agent can do to it too, and return the sentence of what was done."""
    change = Change(request.id, request.cancel, request.priority, request.not_before)
    try:
        done = await change_waiting(mailbox, owner_key, change, BY_COMMAND)
    except ToolFailed as error:
        code = Exit.FAULT if await _is_of(mailbox, request.id, owner_key) else Exit.NO_INPUT
        raise Problem(f"{error}; `nakari events` lists what does", code) from error
    return f"{done[:1].upper()}{done[1:]}."


async def _is_of(mailbox: Mailbox, event_id: str, owner_key: str | None) -> bool:
    """Whether there is such an event, of this owner or with None of anybody."""
    filed = await mailbox.find(event_id)
    return filed is not None and owner_key in {None, filed.event.owner_key}


def without_words(filed: MailboxRecord) -> dict[str, Json]:
    """Return an event as it is listed to who may not read it."""
    event = filed.event
    created_at = event.created_at.isoformat()
    return {
        "id": event.id,
        "type": OF_ANOTHER_OWNER,
        "owner_key": event.owner_key,
        "state": filed.state,
        "created_at": created_at,
    }


def shown(filed: MailboxRecord) -> dict[str, Json]:
    """Return an event as it is listed: only what is there to be told."""
    event = filed.event
    told: dict[str, Json] = {
        "id": event.id,
        "type": event.type,
        "source": event.source,
        "state": filed.state,
        "content": event.content,
        "created_at": event.created_at.isoformat(),
        "due_at": filed.due_at.isoformat() if filed.due_at else "",
        "waits_for": filed.waits_for,
        "attempt": filed.progress.attempt,
        "note": filed.progress.note,
        "reason": filed.reason,
        "summary": filed.summary,
        "figures": dict(filed.figures),
    }
    return {key: value for key, value in told.items() if value}


def within(events: Sequence[Mapping[str, Json]], room: int) -> list[dict[str, Json]]:
    """Return the events so that their texts have room, in bytes of JSON; whole where they have.

    Else each text is as long as it can be if all are; the `cut` of an event says how many characters there were.
    """
    needed = sum(len(json.dumps(event, ensure_ascii=False).encode()) for event in events)
    if needed <= room:
        return [dict(event) for event in events]
    most = room // (len(events) * len(TEXTS) * LONGEST_CHARACTER)
    return [_cut(event, most) for event in events]


def _cut(event: Mapping[str, Json], most: int) -> dict[str, Json]:
    long = {key: text for key, text in event.items() if key in TEXTS and isinstance(text, str) and len(text) > most}
    shortened: dict[str, Json] = {key: text[:most] for key, text in long.items()}
    cut: dict[str, Json] = {key: len(text) for key, text in long.items()}
    return {**event, **shortened, **({"cut": cut} if cut else {})}
