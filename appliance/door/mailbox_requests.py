"""What may be asked at the door of her mailbox: what is in it, and to try or drop one of its events."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from agent.mail import Filed, State
from agent.mailbox import Mailbox
from agent.model.messages import Json
from appliance.door.asked import Asked, Name
from appliance.errors import Problem
from appliance.exits import Exit

BY_COMMAND = "withdrawn by command"


class ListMailbox(Asked):
    """Which events are in a state, the newest first."""

    do: Literal["mailbox"]
    state: State = "dead"
    limit: Annotated[int, Field(ge=1, le=1000)] = 20


class Retry(Asked):
    """Take an event out of the dead letter; it is handled as if it were new."""

    do: Literal["mailbox.retry"]
    id: Name


class Withdraw(Asked):
    """Drop an event that waits."""

    do: Literal["mailbox.withdraw"]
    id: Name


MailboxRequest: TypeAlias = ListMailbox | Retry | Withdraw


async def answer_of(mailbox: Mailbox, request: MailboxRequest) -> dict[str, Json]:
    """Do what is asked, and return the answer. Raises `Problem` for an event that is not where it should be."""
    match request:
        case ListMailbox():
            found = await mailbox.listed(request.state, request.limit)
            return {"counts": dict(await mailbox.counts()), "events": [shown(filed) for filed in found]}
        case Retry():
            if not await mailbox.retry(request.id):
                raise Problem(
                    f"there is no event {request.id} in the dead letter; `nakari mailbox` lists it", Exit.FAULT
                )
            return {"done": "It is tried again."}
        case Withdraw():
            if not await mailbox.withdraw(request.id, BY_COMMAND):
                raise Problem(
                    f"no event {request.id} is waiting; `nakari mailbox --state pending` lists them", Exit.FAULT
                )
            return {"done": "It is withdrawn."}


def shown(filed: Filed) -> dict[str, Json]:
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
